"""Studies: beside the assignments, in the same tables."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    kind = sa.Column("kind", sa.String(16), nullable=False, server_default="assignment")
    op.add_column("assignments", kind)


def downgrade() -> None:
    studies = "SELECT id FROM assignments WHERE kind <> 'assignment'"
    op.execute(f"DELETE FROM submissions WHERE assignment IN ({studies})")
    op.execute("DELETE FROM assignments WHERE kind <> 'assignment'")
    op.drop_column("assignments", "kind")
