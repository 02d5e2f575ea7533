"""The paper figure by figure: its values beside ours, and a verdict by a stated rule."""
