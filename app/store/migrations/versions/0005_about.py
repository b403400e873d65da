"""The author's texts of a share, and its request, so that a share is stored only once."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    # Both may be null: a server of the previous version, still running, writes neither.
    op.add_column("shares", sa.Column("about", sa.JSON))
    op.add_column("shares", sa.Column("request", sa.LargeBinary))
    op.create_index("ix_shares_request", "shares", ["request"])


def downgrade() -> None:
    op.drop_index("ix_shares_request", "shares")
    op.drop_column("shares", "request")
    op.drop_column("shares", "about")
