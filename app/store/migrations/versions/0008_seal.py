"""A digest of everything of a share that is not in its contents."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("shares", sa.Column("seal", sa.LargeBinary))


def downgrade() -> None:
    op.drop_column("shares", "seal")
