"""Contents, each stored once by its SHA-256; edit keys, addresses and sizes of shares."""

import hashlib

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "contents",
        sa.Column("digest", sa.LargeBinary, primary_key=True),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "secrets",
        sa.Column("name", sa.String(32), primary_key=True),
        sa.Column("value", sa.LargeBinary, nullable=False),
    )
    for column in ("documents", "size"):
        op.add_column(
            "shares", sa.Column(column, sa.BigInteger, nullable=False, server_default="0")
        )
    for column in ("edit_key", "address"):
        op.add_column("shares", sa.Column(column, sa.LargeBinary))
    # A digest replaces the content it belongs to. Neither database needs to rewrite the
    # table for that, and SQLite reuses the freed space for the next content.
    op.execute("ALTER TABLE shares RENAME COLUMN trace TO digest")
    op.execute("ALTER TABLE answers RENAME COLUMN answer TO digest")
    _move_contents(op.get_bind())
    op.create_index("ix_contents_size", "contents", ["size"])
    op.create_index("ix_shares_created", "shares", ["created"])
    op.create_index("ix_shares_digest", "shares", ["digest"])
    op.create_index("ix_shares_documents", "shares", ["documents"])
    op.create_index("ix_shares_address", "shares", ["address", "size"])
    op.create_index("ix_answers_digest", "answers", ["digest"])


def downgrade() -> None:
    bind = op.get_bind()
    for table in (SHARES, ANSWERS):
        of_table = sa.select(CONTENTS.c.content).where(CONTENTS.c.digest == table.c.digest)
        bind.execute(sa.update(table).values(digest=of_table.scalar_subquery()))
    for table in ("shares", "answers"):
        for index in sa.inspect(bind).get_indexes(table):
            op.drop_index(index["name"], table)
    op.execute("ALTER TABLE shares RENAME COLUMN digest TO trace")
    op.execute("ALTER TABLE answers RENAME COLUMN digest TO answer")
    for column in ("documents", "size", "edit_key", "address"):
        op.drop_column("shares", column)
    op.drop_table("contents")
    op.drop_table("secrets")


SHARES = sa.table(
    "shares",
    sa.column("id", sa.String),
    sa.column("state", sa.JSON),
    sa.column("model", sa.JSON),
    sa.column("digest", sa.LargeBinary),
    sa.column("documents", sa.BigInteger),
    sa.column("size", sa.BigInteger),
)
ANSWERS = sa.table(
    "answers",
    sa.column("share", sa.String),
    sa.column("n", sa.Integer),
    sa.column("question", sa.JSON),
    sa.column("digest", sa.LargeBinary),
)
CONTENTS = sa.table(
    "contents",
    sa.column("digest", sa.LargeBinary),
    sa.column("size", sa.BigInteger),
    sa.column("content", sa.LargeBinary),
)


def _move_contents(bind: sa.Connection) -> None:
    """Move the contents of rows into `contents`, one at a time, to limit the memory."""
    for share in bind.scalars(sa.select(SHARES.c.id)).all():
        mine, of_share = SHARES.c.id == share, ANSWERS.c.share == share
        row = sa.select(SHARES.c.digest, _length(bind, SHARES.c.state, SHARES.c.model))
        trace, documents = bind.execute(row.where(mine)).one()
        digests = [_put(bind, trace)]
        rows = sa.select(ANSWERS.c.n, ANSWERS.c.digest, _length(bind, ANSWERS.c.question))
        for n, answer, length in bind.execute(rows.where(of_share)).all():
            digests.append(_put(bind, answer))
            documents += length
            this_answer = sa.and_(of_share, ANSWERS.c.n == n)
            bind.execute(sa.update(ANSWERS).where(this_answer).values(digest=digests[-1][0]))
        size = documents + sum(length for _, length in digests)
        values = {"digest": digests[0][0], "documents": documents, "size": size}
        bind.execute(sa.update(SHARES).where(mine).values(values))


def _length(bind: sa.Connection, *documents: sa.ColumnElement) -> sa.ColumnElement:
    """Return the bytes of JSON without parsing it: one invalid row must not affect others."""
    if bind.dialect.name == "sqlite":
        return sum(sa.func.length(sa.cast(document, sa.LargeBinary)) for document in documents)
    return sum(sa.func.octet_length(sa.cast(document, sa.Text)) for document in documents)


def _put(bind: sa.Connection, content: bytes) -> tuple[bytes, int]:
    """Store a content; return its digest and size."""
    digest = hashlib.sha256(content).digest()
    existing = sa.select(sa.literal(1)).where(CONTENTS.c.digest == digest)
    if bind.scalar(existing) is None:
        row = {"digest": digest, "size": len(content), "content": content}
        bind.execute(sa.insert(CONTENTS).values(row))
    return digest, len(content)
