"""Collections that their owners have listed on the server."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    listing = sa.Column("listing", sa.String(16), nullable=False, server_default="")
    op.add_column("collections", listing)
    op.create_index("ix_collections_listing", "collections", ["listing", "changed"])


def downgrade() -> None:
    op.drop_index("ix_collections_listing", "collections")
    op.drop_column("collections", "listing")
