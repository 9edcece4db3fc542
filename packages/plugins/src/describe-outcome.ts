import type { Brought, PluginOutcome } from './plugin-outcome.ts';

/** What became of a plugin, in one line: what it brings, or why it does not work. */
export function describeOutcome(outcome: PluginOutcome): string {
  if (outcome.kind === 'failed') {
    return `${outcome.name ?? outcome.use} does not work: ${outcome.reason}`;
  }
  const { name, version, brings, left } = outcome;
  const title = version === undefined ? name : `${name} ${version}`;
  const without = left.length === 0 ? '' : `; left out: ${left.join('; ')}`;
  return `${title} brings ${listOf(brings) || 'nothing'}${without}`;
}

function listOf({ tools, skills, layers, hooks, channels, sources }: Brought): string {
  return [
    named(
      'tool',
      tools.map(({ name }) => name),
    ),
    skills.length === 0 ? '' : `skills in ${skills.join(', ')}`,
    named(
      'layer',
      layers.map(({ id }) => id),
    ),
    named(
      'hook',
      hooks.map(({ id }) => id),
    ),
    named(
      'channel',
      channels.map(({ id }) => id),
    ),
    named(
      'source',
      sources.map(({ id }) => id),
    ),
  ]
    .filter((part) => part !== '')
    .join(', ');
}

function named(what: string, names: readonly string[]): string {
  if (names.length === 0) return '';
  return `${names.length === 1 ? what : `${what}s`} ${names.join(' and ')}`;
}
