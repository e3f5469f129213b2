"""The style sheet of a report."""

STYLE = """
:root { color-scheme: light; --ink: #1c2733; --soft: #5b6875; --line: #e3e8ee; --back: #f6f8fa; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1080px; padding: 32px 24px 48px; color: var(--ink); background: #fff;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { margin: 0 0 4px; font-size: 28px; overflow-wrap: anywhere; }
h2 { margin: 0 0 8px; font-size: 19px; }
p { margin: 0 0 12px; color: var(--soft); overflow-wrap: anywhere; }
section { margin-top: 36px; padding-top: 24px; border-top: 1px solid var(--line); }
.tiles { display: flex; flex-wrap: wrap; gap: 12px; margin-top: 20px; }
.tiles div { flex: 1 1 150px; padding: 14px 16px; border-radius: 8px; background: var(--back); }
.tiles b { display: block; font-size: 24px; line-height: 1.2; }
.tiles span { font-size: 13px; color: var(--soft); }
.wide { overflow-x: auto; max-height: 480px; overflow-y: auto; border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 6px 12px; text-align: left; vertical-align: top; white-space: nowrap; }
td:last-child { white-space: normal; overflow-wrap: anywhere; }
thead th { position: sticky; top: 0; background: var(--back); color: var(--soft); font-weight: 600; }
tbody tr + tr td { border-top: 1px solid var(--line); }
.pair { display: flex; flex-wrap: wrap; gap: 24px; }
.facts { flex: 1 1 300px; width: auto; align-self: flex-start; }
.facts th { color: var(--soft); font-weight: 500; width: 30%; }
.facts td { white-space: normal; overflow-wrap: anywhere; }
ul { margin: 0; padding-left: 20px; }
li { overflow-wrap: anywhere; }
footer { margin-top: 40px; font-size: 13px; color: var(--soft); }
@media print { .wide { max-height: none; } }
"""
