/** Where something stands in the file; both count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/**
 * One thing in the settings that is wrong (or, as a warning, without effect), with all that a person
 * needs to mend it. `found` and `excerpt` never show a secret.
 */
export interface SettingsProblem {
  readonly kind: 'syntax' | 'newer' | 'unknown-key' | 'missing' | 'value' | 'reference';
  /** Set where it is not in the settings file: the profile's, for example. */
  readonly file?: string;
  /** `channels.telegram.token`; empty for the file as a whole. */
  readonly path: string;
  /** Absent when the value is not in the file, for example because the file is missing. */
  readonly position?: Position;
  /** The value as written, shortened; a reference is shown as `${NAME}` and not as what it stands for. */
  readonly found?: string;
  /** What should stand there, as a phrase: `one of pretty, json`. */
  readonly expected: string;
  /** The valid key or value that was probably meant. */
  readonly nearest?: string;
  /** The lines around a syntax error with a caret below the place. */
  readonly excerpt?: string;
}

/** A problem in plain lines for a terminal: place, what was found, what is expected, a hint. */
export function describeProblem(problem: SettingsProblem): string {
  const lines = [headline(problem)];
  if (problem.excerpt !== undefined) lines.push('', indent(problem.excerpt), '');
  if (problem.found !== undefined) lines.push(`    found:    ${problem.found}`);
  lines.push(`    expected: ${problem.expected}`);
  if (problem.nearest !== undefined) lines.push(`    did you mean: ${problem.nearest}`);
  return lines.join('\n');
}

const WHAT: Readonly<Record<SettingsProblem['kind'], string>> = {
  syntax: 'is not valid YAML',
  newer: 'is of a later kind than this Parley knows',
  'unknown-key': 'is not a known key and has no effect',
  missing: 'is missing',
  value: 'has a value that does not fit',
  reference: 'refers to something that is not there',
};

function headline(problem: SettingsProblem): string {
  const { path, file, position: place } = problem;
  const inside = file === undefined || path === '' ? path : `${path} in ${file}`;
  const subject = path === '' ? (file ?? 'the settings file') : inside;
  const where = place === undefined ? '' : ` (line ${place.line}, column ${place.column})`;
  return `${subject} ${WHAT[problem.kind]}${where}`;
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '    ');
}
