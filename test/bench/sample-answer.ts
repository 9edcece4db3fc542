/** What the loopback model always answers, so that both bots send the same words. */
export const SHORT_ANSWER =
  'Sure: **two things** are on today, the *dentist* at 10:30 and a call with `ops` at 15:00. Shall I move either of them?';

const SECTION = `## What I found

Three of the **five** servers answer within *20 ms*; the others need a [restart](https://example.org/runbook).

- \`alpha\`: fine, 12 ms
- \`beta\`: fine, 17 ms & rising
- \`gamma\`: **slow**, see below

> The log says: connection < limit, so nothing was dropped.

\`\`\`sh
ssh gamma 'systemctl restart relay && journalctl -u relay -n 20'
\`\`\`

| server | before | after |
|---|---|---|
| beta | 17 | 11 |
| gamma | 240 | 19 |
`;

/** An answer of 2,000 characters with everything that people are sent in practice. */
export const LONG_ANSWER = SECTION.repeat(6).slice(0, 2_000);
