import type { WorkspaceView } from '@parley/workspace';

/** Who the agent is to the people it talks with. */
export interface Identity {
  readonly name: string;
  readonly role?: string;
  readonly emoji?: string;
}

/** One place that may say something about the identity. */
export interface IdentitySource {
  readonly name?: string | undefined;
  readonly role?: string | undefined;
  readonly emoji?: string | undefined;
}

/** Where an identity comes from, strongest first (W05). */
export interface IdentitySources {
  readonly global?: IdentitySource;
  readonly agent?: IdentitySource;
  /** What IDENTITY.md says. */
  readonly file?: IdentitySource;
}

const FALLBACK_NAME = 'Assistant';

/** Longest name, role or emoji, in characters: an identity is one line of the prompt. */
const MAX_LENGTH = 200;

/** Each of name, role and emoji from the first source that sets it (W05); blank is not set. */
export function identityOf({ global, agent, file }: IdentitySources): Identity {
  const { name = FALLBACK_NAME, ...rest } = firstSet([global, agent, file]);
  return { name, ...rest };
}

/** What several sources say together, strongest first; a field that none sets is left out. */
export function firstSet(sources: readonly (IdentitySource | undefined)[]): Partial<Identity> {
  const first = (field: keyof IdentitySource): string | undefined =>
    sources.map((source) => oneLine(source?.[field])).find((value) => value !== '');
  const name = first('name');
  const role = first('role');
  const emoji = first('emoji');
  return {
    ...(name === undefined ? {} : { name }),
    ...(role === undefined ? {} : { role }),
    ...(emoji === undefined ? {} : { emoji }),
  };
}

/** The workspace file that sets the identity. */
export const IDENTITY_FILE = 'IDENTITY.md';

/** The identity of a turn: settings first, then IDENTITY.md as this reader sees it. */
export async function readIdentity(
  view: WorkspaceView,
  settings: Omit<IdentitySources, 'file'>,
): Promise<Identity> {
  const file = await view.read(IDENTITY_FILE);
  return identityOf({
    ...settings,
    ...(file.kind === 'file' && { file: parseIdentity(file.text) }),
  });
}

/**
 * Reads lines such as `- **Name:** Mori` or `Role: gardener`. OpenClaw writes `Creature` for the
 * role, and sometimes the value on an indented line of its own; a hint in brackets, as its template
 * has them, counts as empty.
 */
export function parseIdentity(markdown: string): IdentitySource {
  const fields = new Map<string, string>();
  const lines = markdown.split('\n');
  for (const [at, line] of lines.entries()) {
    const match = /^\s*(?:[-*+]\s+)?[*_]*([a-z]+)[*_]*\s*:[*_]*(.*)$/i.exec(line);
    if (match === null) continue;
    const [, label = '', rest = ''] = match;
    const value = bare(rest) || bare(/^\s+[^\s+-].*$/.exec(lines[at + 1] ?? '')?.[0] ?? '');
    const isHint = value.startsWith('(') && value.endsWith(')');
    if (value !== '' && !isHint) fields.set(label.toLowerCase(), value);
  }
  return {
    name: fields.get('name'),
    role: fields.get('role') ?? fields.get('creature'),
    emoji: fields.get('emoji'),
  };
}

/** Without the marks of emphasis and code around it. */
function bare(value: string): string {
  return value.replace(/^[\s*_`]+|[\s*_`]+$/g, '');
}

function oneLine(value: string | undefined): string {
  return (value ?? '').replace(/\s+/g, ' ').trim().slice(0, MAX_LENGTH);
}
