"""The tables, as left by the migrations."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
)

ID_LENGTH = 13

metadata = MetaData()
shares = Table(
    "shares",
    metadata,
    Column("id", String(ID_LENGTH), primary_key=True),
    Column("format", Integer, nullable=False, server_default="1"),
    Column("created", DateTime(timezone=True), nullable=False),
    Column("state", JSON, nullable=False),
    Column("model", JSON, nullable=False),
    Column("digest", LargeBinary, nullable=False),  # of the trace, in `contents`
    Column("documents", BigInteger, nullable=False, server_default="0"),  # bytes of JSON
    Column("size", BigInteger, nullable=False, server_default="0"),  # bytes, with all contents
    Column("edit_key", LargeBinary),  # SHA-256; older shares have none
    Column("address", LargeBinary),  # keyed digest of the author's address
    Column("about", JSON),  # the author's texts for readers; null: none
    Column("request", LargeBinary),  # keyed digest of the request and the client
    Column("seal", LargeBinary),  # SHA-256 of what a reader gets; older shares have none
    Index("ix_shares_created", "created"),
    Index("ix_shares_digest", "digest"),
    Index("ix_shares_documents", "documents"),
    Index("ix_shares_address", "address", "size"),
    Index("ix_shares_request", "request"),
)
answers = Table(
    "answers",
    metadata,
    Column("share", String(ID_LENGTH), ForeignKey("shares.id"), primary_key=True),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("question", JSON, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Index("ix_answers_digest", "digest"),
)
contents = Table(
    "contents",
    metadata,
    Column("digest", LargeBinary, primary_key=True),  # SHA-256 of the content
    Column("size", BigInteger, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Index("ix_contents_size", "size"),
)
collections = Table(
    "collections",
    metadata,
    Column("id", String(ID_LENGTH), primary_key=True),
    Column("created", DateTime(timezone=True), nullable=False),
    Column("changed", DateTime(timezone=True), nullable=False),
    Column("version", Integer, nullable=False),  # 1, then one more with each change
    Column("document", JSON, nullable=False),  # title, note, items
    Column("size", BigInteger, nullable=False),  # bytes of the document
    Column("edit_key", LargeBinary, nullable=False),  # SHA-256
    Column("address", LargeBinary),  # keyed digest of the author's address
    Column("request", LargeBinary),  # keyed digest of the request and the client
    Column("seal", LargeBinary),  # SHA-256 of what a reader gets; older rows have none
    Index("ix_collections_changed", "changed"),
    Index("ix_collections_address", "address", "size"),
    Index("ix_collections_request", "request"),
)
assignments = Table(
    "assignments",
    metadata,
    Column("id", String(ID_LENGTH), primary_key=True),
    Column("created", DateTime(timezone=True), nullable=False),
    Column("changed", DateTime(timezone=True), nullable=False),  # by the last submission
    Column("document", JSON, nullable=False),  # title, note, questions
    Column("size", BigInteger, nullable=False),  # bytes, with all submissions
    Column("owner_key", LargeBinary, nullable=False),  # SHA-256
    Column("address", LargeBinary),  # keyed digest of the author's address
    Column("seal", LargeBinary),  # SHA-256 of what a reader gets; older rows have none
    Index("ix_assignments_changed", "changed"),
    Index("ix_assignments_address", "address", "size"),
)
submissions = Table(
    "submissions",
    metadata,
    Column("assignment", String(ID_LENGTH), ForeignKey("assignments.id"), primary_key=True),
    Column("member", LargeBinary, primary_key=True),  # keyed digest of the token
    Column("sent", DateTime(timezone=True), nullable=False),
    Column("document", JSON, nullable=False),  # nickname, answers
    Column("size", BigInteger, nullable=False),  # bytes of the document
    Column("address", LargeBinary),  # keyed digest of the address that first sent it
    Column("seal", LargeBinary),  # SHA-256 of what the author gets; older rows have none
)
secrets = Table(
    "secrets",
    metadata,
    Column("name", String(32), primary_key=True),
    Column("value", LargeBinary, nullable=False),
)
