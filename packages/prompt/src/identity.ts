import { PromptPart } from '@parley/core';
import type { WorkspaceView } from '@parley/workspace';
import type { ContextSource, Identity, PromptFeatures, SourceTurn } from './layer.ts';

export interface IdentitySource {
  readonly name?: string | undefined;
  readonly role?: string | undefined;
  readonly emoji?: string | undefined;
}

/** The sources of an identity, the strongest first (W05). */
export interface IdentitySources {
  readonly global?: IdentitySource;
  readonly agent?: IdentitySource;
  /** The identity given in IDENTITY.md. */
  readonly file?: IdentitySource;
}

const FALLBACK_NAME = 'Assistant';

/**
 * The maximum length of a name, role or emoji, in characters: an identity is one line of the
 * prompt.
 */
const MAX_LENGTH = 200;

/**
 * Takes name, role and emoji each from the first source that sets the field (W05). A blank value
 * counts as not set.
 */
export function resolveIdentity({ global, agent, file }: IdentitySources): Identity {
  const { name = FALLBACK_NAME, ...rest } = mergeIdentityFields([global, agent, file]);
  return { name, ...rest };
}

/**
 * Merges the fields from several sources, the strongest first. A field that no source sets is
 * omitted.
 */
export function mergeIdentityFields(
  sources: readonly (IdentitySource | undefined)[],
): Partial<Identity> {
  const first = (field: keyof IdentitySource): string | undefined =>
    sources.map((source) => toShortLine(source?.[field])).find((value) => value !== '');
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

/**
 * The identity for a turn: from the settings first, then from IDENTITY.md as this reader sees it.
 */
export async function readIdentity(
  view: WorkspaceView,
  settings: Omit<IdentitySources, 'file'>,
): Promise<Identity> {
  const file = await view.read(IDENTITY_FILE);
  return resolveIdentity({
    ...settings,
    ...(file.kind === 'file' && { file: parseIdentity(file.text) }),
  });
}

/**
 * Parses lines such as `- **Name:** Mori` or `Role: gardener`. OpenClaw uses `Creature` for the
 * role, and sometimes puts the value on a separate indented line. A hint in brackets, as in the
 * template, counts as empty.
 */
export function parseIdentity(markdown: string): IdentitySource {
  const fields = new Map<string, string>();
  const lines = markdown.split('\n');
  for (const [at, line] of lines.entries()) {
    const match = /^\s*(?:[-*+]\s+)?[*_]*([a-z]+)[*_]*\s*:[*_]*(.*)$/i.exec(line);
    if (match === null) continue;
    const [, label = '', rest = ''] = match;
    const value =
      stripEmphasis(rest) || stripEmphasis(/^\s+[^\s+-].*$/.exec(lines[at + 1] ?? '')?.[0] ?? '');
    const isHint = value.startsWith('(') && value.endsWith(')');
    if (value !== '' && !isHint) fields.set(label.toLowerCase(), value);
  }
  return {
    name: fields.get('name'),
    role: fields.get('role') ?? fields.get('creature'),
    emoji: fields.get('emoji'),
  };
}

/** Removes emphasis and code marks around a value. */
function stripEmphasis(value: string): string {
  return value.replace(/^[\s*_`]+|(?<![\s*_`])[\s*_`]+$/g, '');
}

function toShortLine(value: string | undefined): string {
  return (value ?? '').replace(/\s+/g, ' ').trim().slice(0, MAX_LENGTH);
}

/**
 * The persona and output format of the settings, or of the profile that the settings name (P14,
 * P15).
 */
export interface PersonaSettings {
  readonly persona?: NamedText | undefined;
  readonly format?: NamedText | undefined;
  readonly ephemeral?: string | undefined;
  readonly skipContextFiles?: boolean | undefined;
}

/**
 * The first turn of a session fixes the persona: the text stays verbatim, even if its file is
 * edited. The format may change at any time.
 */
export function createPersonaSource(character: PersonaSettings): ContextSource {
  return {
    id: 'character',
    reads: NAMED_FOLDERS.map((folder) => `${folder}/`),
    async gather(turn) {
      const { persona, format, ephemeral, skipContextFiles } = character;
      const [who, shape] = await Promise.all([
        persona === undefined ? null : readSessionPersona(persona, turn),
        format === undefined ? null : readNamedText(format, 'output-formats', turn.view),
      ]);
      const features: PromptFeatures = {
        ...(who === null ? {} : { persona: who }),
        ...(shape === null ? {} : { outputFormat: shape }),
        ...(ephemeral === undefined ? {} : { ephemeral: createSettingsPart(ephemeral) }),
        ...(skipContextFiles === undefined ? {} : { skipContextFiles }),
      };
      return features;
    },
  };
}

/** Null is not stored, so a session without a persona can still receive one. */
async function readSessionPersona(
  persona: NamedText,
  turn: SourceTurn,
): Promise<PromptPart | null> {
  const now = await readNamedText(persona, 'personas', turn.view);
  if (now === null || turn.fix === undefined) return now;
  return turn.fix('persona', now, PromptPart);
}

function createSettingsPart(text: string): PromptPart {
  return { text, source: 'settings', audience: { kind: 'everyone' } };
}

export interface NamedText {
  /** The file name without its folder and ending. */
  readonly name: string;
  readonly builtIn: string | null;
}

/** The workspace folders whose files are chosen by name. */
const NAMED_FOLDERS = ['personas', 'output-formats'] as const;
type NamedFolder = (typeof NAMED_FOLDERS)[number];

/**
 * Reads the text with that name: the workspace's own file, otherwise the built-in one. A file that
 * this reader may not see counts as empty: in a group, a private persona must not be replaced by
 * the built-in one. Returns null when there is no file with this name.
 */
async function readNamedText(
  { name, builtIn }: NamedText,
  folder: NamedFolder,
  view: Pick<WorkspaceView, 'read'>,
): Promise<PromptPart | null> {
  const own = await view.read(`${folder}/${name}.md`);
  if (own.kind === 'file') return { text: own.text, source: own.source, audience: own.audience };
  if (own.reason !== 'missing' || builtIn === null) return null;
  const source = `${folder}/${name}.md of Parley`;
  return { text: builtIn, source, audience: { kind: 'everyone' } };
}
