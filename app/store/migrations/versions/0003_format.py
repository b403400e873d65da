"""The format of a share; existing shares have the first one."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    # The default is kept: a server of the previous version, still running, writes the first format.
    op.add_column("shares", sa.Column("format", sa.Integer, nullable=False, server_default="1"))


def downgrade() -> None:
    op.drop_column("shares", "format")
