"""The format of a share; those from before it was written down have the first."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    # The default stays: a server of the version before, still running, writes the first format.
    op.add_column("shares", sa.Column("format", sa.Integer, nullable=False, server_default="1"))


def downgrade() -> None:
    op.drop_column("shares", "format")
