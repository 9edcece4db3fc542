import type { AssembledPrompt, LayerReport } from './assembled-prompt.ts';

/** Stands in the printed prompt where a provider's cache ends (P09). */
const BOUNDARY = '┄┄┄ cache boundary: above this line nothing changes from turn to turn ┄┄┄';

/** A prompt as a page for people (P17): what became of each layer, then every word the model gets. */
export function inspectPrompt(prompt: AssembledPrompt, title: string): string {
  const stable = prompt.system.filter((part) => part.stable).map((part) => part.text);
  const changing = prompt.system.filter((part) => !part.stable).map((part) => part.text);
  const user = prompt.userContext.map((part) => part.text);
  return [
    `# ${title}`,
    `Layout \`${prompt.layout}\`, about ${tokensOf(prompt.report)} tokens.`,
    ['| layer | from | for | characters | tokens | |', '|---|---|---|--:|--:|---|']
      .concat(prompt.report.map(row))
      .join('\n'),
    '## System',
    fenced([...stable, BOUNDARY, ...changing]),
    '## User, before the person’s words',
    user.length === 0 ? 'Nothing.' : fenced(user),
    '',
  ].join('\n\n');
}

function row(line: LayerReport): string {
  switch (line.outcome) {
    case 'present': {
      const { layer, source, audience, characters, tokens, cut } = line;
      const note = cut === null ? '' : `cut: ${cut.shown} of ${cut.total} characters`;
      return `| ${layer} | ${source} | ${audience.kind} | ${characters} | ${tokens} | ${note} |`;
    }
    case 'absent':
      return `| ${line.layer} | | | | | absent: ${line.reason} |`;
    case 'withheld':
      return `| ${line.layer} | ${line.source} | ${line.audience.kind} | | | withheld: not for this reader |`;
    case 'failed':
      return `| ${line.layer} | | | | | failed: ${line.reason} |`;
  }
}

function tokensOf(report: readonly LayerReport[]): number {
  return report.reduce((sum, line) => sum + (line.outcome === 'present' ? line.tokens : 0), 0);
}

/** A fence longer than any in the text, so that the text cannot close it. */
function fenced(texts: readonly string[]): string {
  const text = texts.join('\n\n');
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}
