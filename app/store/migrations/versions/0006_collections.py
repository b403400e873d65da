"""Collections: ordered lists of links."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "collections",
        sa.Column("id", sa.String(13), primary_key=True),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed", sa.DateTime(timezone=True), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("document", sa.JSON, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("edit_key", sa.LargeBinary, nullable=False),
        sa.Column("address", sa.LargeBinary),
        sa.Column("request", sa.LargeBinary),
    )
    op.create_index("ix_collections_changed", "collections", ["changed"])
    op.create_index("ix_collections_address", "collections", ["address", "size"])
    op.create_index("ix_collections_request", "collections", ["request"])


def downgrade() -> None:
    op.drop_table("collections")
