"""Replies to additional requests of a share's view."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "answers",
        sa.Column("share", sa.String(13), sa.ForeignKey("shares.id"), primary_key=True),
        sa.Column("n", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("question", sa.JSON, nullable=False),
        sa.Column("answer", sa.LargeBinary, nullable=False),
        if_not_exists=True,
    )


def downgrade() -> None:
    op.drop_table("answers")
