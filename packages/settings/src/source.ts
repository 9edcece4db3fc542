/** What is needed to report where a value came from and what is allowed there instead. */
export interface SettingsSource {
  /** The settings after references were replaced. */
  readonly value: Block;
  /** Paths of values that came from outside the file, with their text in the file. */
  readonly outside: ReadonlyMap<string, string>;
  readonly secrets: readonly string[];
  locate(path: SettingsPath, part: 'key' | 'value'): FilePosition | undefined;
  /** Returns the keys and fixed values that are valid at a path. */
  allowedAt(path: SettingsPath): AllowedEntries;
}

/** The keys and values that are allowed at one path of the settings. */
export interface AllowedEntries {
  readonly keys: readonly string[];
  readonly values: readonly string[];
}

/** A finding of a check, before it is located in the file. */
export interface SettingsFinding {
  readonly kind: SettingsProblem['kind'];
  readonly path: SettingsPath;
  readonly expected: string;
  readonly nearest?: string | undefined;
}

/** Converts a finding into a problem, adding its position and value and hiding every secret. */
export function toSettingsProblem(
  finding: SettingsFinding,
  source: SettingsSource,
): SettingsProblem {
  const { kind, path, nearest } = finding;
  const position = source.locate(path, kind === 'unknown-key' ? 'key' : 'value');
  const found =
    kind === 'missing' || kind === 'unknown-key' ? undefined : formatDisplayValue(path, source);
  return {
    kind,
    path: formatPath(path),
    ...(position === undefined ? {} : { position }),
    ...(found === undefined ? {} : { found }),
    expected: hideSecrets(finding.expected, source.secrets),
    ...(nearest === undefined ? {} : { nearest }),
  };
}

function formatDisplayValue(path: SettingsPath, source: SettingsSource): string | undefined {
  const reference = source.outside.get(formatPath(path));
  if (reference !== undefined) {
    const shown = isSecretPath(path) ? keepReferencesOnly(reference) : reference;
    return hideSecrets(shown, source.secrets);
  }
  const value = getValueAt(source.value, path);
  if (value === undefined) return undefined;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value);
    return keys.length === 0 ? 'an empty block' : `a block with ${shortenText(keys.join(', '))}`;
  }
  if (isSecretPath(path)) return '(hidden)';
  return hideSecrets(shortenText(JSON.stringify(value)), source.secrets);
}

/** Text next to a reference in a secret belongs to the secret. */
function keepReferencesOnly(text: string): string {
  return text.replaceAll(/(\$\{[^}]*\}?)|[^$]+|\$/g, (_all, reference) => reference ?? '…');
}

function shortenText(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 57)}…`;
}

function hideSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= 4)
    .toSorted((a, b) => b.length - a.length)
    .reduce((shown, secret) => shown.replaceAll(secret, '(hidden)'), text);
}

/** A position in the file; both numbers count from 1. */
export interface FilePosition {
  readonly line: number;
  readonly column: number;
}

/**
 * One mistake in the settings (or, as a warning, a key without effect), with the details that a
 * person needs to fix it. `found` and `excerpt` never show a secret.
 */
export interface SettingsProblem {
  readonly kind:
    | 'syntax'
    | 'newer'
    | 'unknown-key'
    | 'missing'
    | 'value'
    | 'reference'
    | 'not-installed'
    | 'no-effect';
  /** The file with the problem, such as the profile; absent for the settings file. */
  readonly file?: string;
  /** The path of the value, such as `channels.telegram.token`; empty for the file as a whole. */
  readonly path: string;
  /**
   * The position of the value; absent if it is not in the file, for example because the file is
   * missing.
   */
  readonly position?: FilePosition;
  /** The value as written, shortened; a reference is shown as `${NAME}`, without its value. */
  readonly found?: string;
  /** The expected value, as a phrase: `one of pretty, json`. */
  readonly expected: string;
  /** The valid key or value that was probably intended. */
  readonly nearest?: string;
  /** The lines around a syntax error with a caret below the position. */
  readonly excerpt?: string;
}

/** Formats a problem in plain lines for a terminal: position, found value, expected value, hint. */
export function describeProblem(problem: SettingsProblem): string {
  const lines = [formatHeadline(problem)];
  if (problem.excerpt !== undefined) lines.push('', indentLines(problem.excerpt), '');
  if (problem.found !== undefined) lines.push(`    found:    ${problem.found}`);
  lines.push(`    expected: ${problem.expected}`);
  if (problem.nearest !== undefined) lines.push(`    did you mean: ${problem.nearest}`);
  return lines.join('\n');
}

const WHAT: Readonly<Record<SettingsProblem['kind'], string>> = {
  syntax: 'is not valid YAML',
  newer: 'is from a newer version of Parley',
  'unknown-key': 'is not a known key and has no effect',
  missing: 'is missing',
  value: 'has a value that does not fit',
  reference: 'refers to a missing value',
  'not-installed': 'names a package that is not installed',
  'no-effect': 'can never have an effect',
};

function formatHeadline(problem: SettingsProblem): string {
  const { path, file, position: place } = problem;
  const inside = file === undefined || path === '' ? path : `${path} in ${file}`;
  const subject = path === '' ? (file ?? 'the settings file') : inside;
  const where = place === undefined ? '' : ` (line ${place.line}, column ${place.column})`;
  return `${subject} ${WHAT[problem.kind]}${where}`;
}

function indentLines(text: string): string {
  return text.replaceAll(/^/gm, '    ');
}

/** The path to a value from the top of the settings: keys and list positions. */
export type SettingsPath = readonly (string | number)[];

/**
 * Formats a path as people write it: `channels.telegram.token`, `owners[0]`; unusual keys are
 * quoted.
 */
export function formatPath(path: SettingsPath): string {
  return path.map((step, index) => formatPathSegment(step, index === 0)).join('');
}

function formatPathSegment(step: string | number, first: boolean): string {
  if (typeof step === 'number') return `[${step}]`;
  if (!/^[\w-]+$/.test(step)) return `[${JSON.stringify(step)}]`;
  return first ? step : `.${step}`;
}

/** Whether `path` is `top` or a path below it. */
export function isPathWithin(path: SettingsPath, top: SettingsPath): boolean {
  return top.every((step, index) => path[index] === step);
}

/** Returns the value at `path`; undefined when any step of the path is missing. */
export function getValueAt(root: unknown, path: SettingsPath): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step))
      return undefined;
    value = Reflect.get(value, step);
  }
  return value;
}

/** A YAML mapping as a plain object. */
export type Block = Readonly<Record<string, unknown>>;

/** Whether a value is a mapping; lists and single values are not. */
export function isBlock(value: unknown): value is Block {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const SECRET_NAME =
  /(?:token|key|secret|password|passphrase|authorization|cookie)$|^(?:tokens|keys|secrets|passwords)$/i;
const SECRET_LINE = /^(\s*(?:-\s+)?["']?)([\w-]+)(["']?\s*:\s*)(.+)$/;

/**
 * Whether a key indicates by its name that its value is a secret: `token`, `apiKey`, `password`, …
 */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** Whether any key in the path indicates that the values below it are secret. */
export function isSecretPath(path: SettingsPath): boolean {
  return path.some((step) => typeof step === 'string' && isSecretName(step));
}

/**
 * Masks a line of YAML so that it is safe to show: each character of a secret value is replaced by
 * a dot.
 */
export function maskLine(line: string): string {
  const [, before = '', name = '', colon = '', value = ''] = SECRET_LINE.exec(line) ?? [];
  if (name === '' || !isSecretName(name) || value.startsWith('${')) return line;
  return `${before}${name}${colon}${'•'.repeat(value.length)}`;
}

/**
 * Lists the secrets in a secret value: the value itself, the part after a scheme, and the results
 * of `findEmbeddedSecrets`.
 */
export function listSecrets(value: string): string[] {
  const [, scheme = '', credentials = ''] = /^(bearer|basic|token|bot)\s+(\S+)$/i.exec(value) ?? [];
  const basic = scheme.toLowerCase() === 'basic' ? getPassword(credentials) : '';
  const within = findEmbeddedSecrets(value).map(({ text }) => text);
  return [...new Set([value, credentials, basic, ...within])].filter((secret) => secret !== '');
}

/**
 * A piece of a longer text that may be a secret; `isNamed` means that only secrets occur in this
 * position.
 */
interface SecretCandidate {
  readonly text: string;
  readonly isNamed: boolean;
}

/**
 * Finds possible secrets inside a text that is not itself a secret: user and password, queries and
 * long random segments of a URL's path, credentials after a scheme, `--api-key=…`, and values in
 * JSON whose key indicates a secret. They are returned as written and, in URLs, also decoded.
 */
export function findEmbeddedSecrets(value: string): readonly SecretCandidate[] {
  const urls = [...value.matchAll(/[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]+/gi)].flatMap(([url]) =>
    listUrlSecrets(url),
  );
  const flags = [...value.matchAll(/(?:^|\s)-{0,2}([\w-]+)\s*[=:]\s*(\S.*)$/g)]
    .filter(([, name = '']) => isSecretName(name))
    .flatMap(([, , secret = '']) => [
      secret,
      /^(?:bearer|basic|token|bot)\s+(\S+)$/i.exec(secret)?.[1],
    ]);
  const found = flags.flatMap((text) => (text === undefined ? [] : [{ text, isNamed: true }]));
  return [...urls, ...found, ...listJsonSecrets(value)];
}

/** The secrets in a key file, such as a Google service account's `private_key`. */
function listJsonSecrets(value: string): SecretCandidate[] {
  if (!value.trimStart().startsWith('{')) return [];
  try {
    return Object.entries(Object(JSON.parse(value))).flatMap(([name, text]) =>
      isSecretName(name) && typeof text === 'string' ? [{ text, isNamed: true }] : [],
    );
  } catch {
    return []; // Text that only begins like JSON.
  }
}

function listUrlSecrets(url: string): SecretCandidate[] {
  const [, login = '', rest = ''] = /^[^:]+:\/\/(?:([^/?#]*)@)?(.*)$/s.exec(url) ?? [];
  const [, user = '', password = ''] = /^([^:]*):?(.*)$/s.exec(login) ?? [];
  const [, path = '', query = ''] = /^[^/?#]*([^?#]*)\??([^#]*)/.exec(rest) ?? [];
  const asked = query.split('&').map((pair) => /^([^=]*)=?(.*)$/s.exec(pair) ?? []);
  return [
    { text: user, isNamed: false },
    { text: password, isNamed: true },
    ...asked.map(([, name = '', text = '']) => ({ text, isNamed: isSecretName(name) })),
    ...path
      .split('/')
      .filter((step) => step.length >= 20 && /\d/.test(step) && /[a-z]/i.test(step))
      .map((text) => ({ text, isNamed: false })),
  ].flatMap((found) => [found, { ...found, text: decodePercent(found.text) }]);
}

function getPassword(credentials: string): string {
  return /:(.+)$/s.exec(Buffer.from(credentials, 'base64').toString('utf8'))?.[1] ?? '';
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A single % is valid in a password, so the text is returned undecoded.
  }
}
