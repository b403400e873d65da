"""Shares."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "shares",
        sa.Column("id", sa.String(13), primary_key=True),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.JSON, nullable=False),
        sa.Column("model", sa.JSON, nullable=False),
        sa.Column("trace", sa.LargeBinary, nullable=False),
        if_not_exists=True,
    )


def downgrade() -> None:
    op.drop_table("shares")
