import { z } from 'zod';
import { parseLooseJson } from './loose-json.ts';
import { type FrontMatterEntry, toPlainValue } from './matter-entries.ts';
import { cleanOneLine } from './skill-text.ts';

/**
 * The maximum length of the lists and entries in a skill's requirements; real skills have a
 * handful.
 */
const MAX_WORDS = 32;
const MAX_WORD_LENGTH = 128;

const Word = z.string().min(1).max(MAX_WORD_LENGTH);
const Words = z.array(Word).max(MAX_WORDS).default([]);

/** An installation step; its other fields are not shown. */
const InstallStep = z.union([
  z.string(),
  z.looseObject({
    label: z.string().optional(),
    id: z.string().optional(),
    kind: z.string().optional(),
  }),
]);
type InstallStep = z.infer<typeof InstallStep>;

/** The details of a skill that are available before its text is read. */
const Header = z.object({
  /** Defaults to the folder's name. */
  name: z.string().optional(),
  description: z
    .string({ error: 'is missing; it says when to use the skill' })
    .refine((text) => text !== '', 'is empty; it says when to use the skill'),
  os: Words,
  requires: z.object({ bins: Words, anybins: Words, env: Words, config: Words, tools: Words }),
  always: z.boolean({ error: 'is neither yes nor no' }).default(false),
  emoji: z.string().nullable().default(null),
  install: z.array(z.string()).default([]),
  userinvocable: z.boolean().default(true),
  disablemodelinvocation: z.boolean().default(false),
  show: z.enum(['outline', 'inline']).optional(),
  /**
   * The variable that receives the skill's `apiKey` from the settings; its name is never truncated.
   */
  primaryenv: Word.optional(),
  audiencetwice: z.literal(false, {
    error: 'the audience is written twice, so it is unclear which one applies',
  }),
  /** False if any key contains an audience other than `everyone`. */
  foreveryone: z.boolean(),
});

/** The same details from a plain YAML block, with its keys in any spelling. */
export const SkillHeader = z.preprocess(
  (written) => normalizeHeader(toFrontMatterEntries(written)).header,
  Header,
);
export type SkillHeader = z.infer<typeof SkillHeader>;

/** Parses the keys in front matter; a mistake in an optional key is a warning. */
export function parseHeader(entries: readonly FrontMatterEntry[]): {
  readonly result: z.ZodSafeParseResult<SkillHeader>;
  readonly warnings: readonly string[];
} {
  const { header, warnings } = normalizeHeader(entries);
  return { result: Header.safeParse(header), warnings };
}

/** Whether no key in the front matter reserves the skill for the owner (W03). */
export function isForEveryone(entries: readonly FrontMatterEntry[]): boolean {
  const { audiencetwice, foreveryone } = normalizeHeader(entries).header;
  return foreveryone && !audiencetwice;
}

/** Converts a plain YAML block to entries; `raw` is the original spelling of a value, if known. */
export function toFrontMatterEntries(
  block: unknown,
  raw: ReadonlyMap<string, string> = new Map(),
): readonly FrontMatterEntry[] {
  if (typeof block !== 'object' || block === null || Array.isArray(block)) return [];
  return Object.entries(block).map(([key, value]) => ({
    key,
    value,
    raw: raw.get(key) ?? (typeof value === 'string' ? value : ''),
    guess: null,
  }));
}

/** The blocks inside `metadata` in which known agents store their keys. */
const BLOCKS = ['openclaw', 'clawdbot', 'moltbot', 'parley'];

type NoteProblem = (key: string, what: string) => void;

/**
 * Merges the keys at the top level, in `metadata` and in its blocks, and converts each value to its
 * intended form (S11). The higher level takes precedence, except for the audience, where the
 * strictest value applies.
 */
function normalizeHeader(entries: readonly FrontMatterEntry[]) {
  const warnings: string[] = [];
  const note: NoteProblem = (key, what) => void warnings.push(`"${key}" ${what}`);
  const top = foldEntries(entries, note);
  const metadata = foldEntries(toFrontMatterEntries(parseMetadata(top.get('metadata'))), note);
  const blocks = BLOCKS.map((block) =>
    foldEntries(toFrontMatterEntries(parseObject(metadata.get(block)?.value)), note),
  );
  const levels = [...blocks, metadata, top];
  const all = new Map(levels.flatMap((level) => [...level]));
  const description = readHeaderText(all.get('description'), note);
  const header = {
    name: readHeaderText(all.get('name'), note),
    description: description === undefined ? undefined : cleanOneLine(description),
    os: splitWords(all.get('os')?.value),
    requires: readRequirements(all.get('requires')?.value, note),
    // A skill's requirements are never guessed.
    always: readFlag(all.get('always'), note) ?? readFlagWord(all.get('always')),
    emoji: readEmoji(all.get('emoji')?.value),
    install: readInstallSteps(all.get('install')?.value),
    userinvocable: readFlag(all.get('userinvocable'), note),
    disablemodelinvocation: readFlag(all.get('disablemodelinvocation'), note),
    show: readFormat(all.get('show'), note),
    primaryenv: splitWords(all.get('primaryenv')?.value)[0],
    audiencetwice: all.has(AUDIENCE_TWICE),
    foreveryone: levels.every((level) => {
      const audience = level.get('audience');
      return audience === undefined || audience.value === 'everyone';
    }),
  };
  return { header, warnings };
}

/**
 * The value is first parsed as hand-written JSON, as in OpenClaw, because `{a:1}` and comments have
 * a different meaning in YAML.
 */
function parseMetadata(entry: FrontMatterEntry | undefined): unknown {
  const json = entry?.raw.startsWith('{') ? parseLooseJson(entry.raw) : undefined;
  return json ?? parseObject(entry?.value);
}

/** Some authors write a block as a quoted line of JSON; other values are left unchanged. */
function parseObject(value: unknown): unknown {
  return typeof value === 'string' ? parseLooseJson(value) : value;
}

/**
 * Folds `userInvocable`, `user-invocable` and `User_Invocable` into one key, and ignores invisible
 * characters.
 */
function foldKey(key: string): string {
  return key
    .normalize('NFKC')
    .replaceAll(/[\s\p{Cf}_-]/gu, '')
    .toLowerCase();
}

/** An author cannot write this key, because foldKey removes spaces. */
const AUDIENCE_TWICE = 'audience twice';

/** Indexes entries by folded key; for a duplicate key, the last one with a value counts. */
function foldEntries(
  entries: readonly FrontMatterEntry[],
  note: NoteProblem,
): ReadonlyMap<string, FrontMatterEntry> {
  const folded = new Map<string, FrontMatterEntry>();
  for (const entry of entries) {
    const key = foldKey(entry.key);
    const before = folded.get(key);
    if (before !== undefined && key === 'audience') folded.set(AUDIENCE_TWICE, entry);
    if (before !== undefined) note(entry.key, 'is written twice; the last one counts');
    if (before === undefined || !isEmptyEntry(entry)) folded.set(key, entry);
  }
  return folded;
}

function isEmptyEntry({ value }: FrontMatterEntry): boolean {
  return value === null || value === undefined || value === '';
}

/**
 * Reads a text as its author wrote it, even if YAML would turn it into a number, a list or a
 * comment.
 */
function readHeaderText(
  entry: FrontMatterEntry | undefined,
  note: NoteProblem,
): string | undefined {
  if (entry === undefined) return undefined;
  const { key, value, raw } = entry;
  const asWritten = toPlainValue(raw);
  if (value === null || value === undefined) {
    if (!raw.startsWith('#')) return undefined;
    note(key, 'is a comment in YAML; it was read as text');
    return asWritten;
  }
  if (typeof value === 'string') {
    if (!wouldLoseText(value, raw)) return value;
    note(key, 'contains something with another meaning in YAML; it was read as text');
    return asWritten;
  }
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) {
    note(key, 'is a list; it was read as text');
    return value.join(', ');
  }
  if (typeof value === 'object') note(key, 'is a block; it was read as text');
  return asWritten === '' ? String(value) : asWritten;
}

/** Whether YAML would remove an anchor or a tag at the start, or a word after `#`. */
function wouldLoseText(value: string, raw: string): boolean {
  if (/^[&!](?!!)/.test(raw)) return true;
  return !/^["'|>]/.test(raw) && / #\S/.test(raw) && !value.includes('#');
}

const YES: readonly unknown[] = [true, 1, 'true', 'yes', 'y', 'on', '1', 'enabled'];
const NO: readonly unknown[] = [false, 0, 'false', 'no', 'n', 'off', '0', 'disabled', 'never'];

/** An invalid flag is treated as absent. */
function readFlag(entry: FrontMatterEntry | undefined, note: NoteProblem): boolean | undefined {
  if (entry === undefined || isEmptyEntry(entry)) return undefined;
  const { key, value } = entry;
  const word = typeof value === 'string' ? value.trim().toLowerCase() : value;
  if (YES.includes(word)) return true;
  if (NO.includes(word)) return false;
  note(key, 'is neither yes nor no and is ignored');
  return undefined;
}

/** Reads a flag's value, if it has one. */
function readFlagWord(entry: FrontMatterEntry | undefined): unknown {
  return entry === undefined || isEmptyEntry(entry) ? undefined : entry.value;
}

function readFormat(entry: FrontMatterEntry | undefined, note: NoteProblem): string | undefined {
  if (entry === undefined || isEmptyEntry(entry)) return undefined;
  const word = String(entry.value).trim().toLowerCase();
  if (word === 'outline' || word === 'inline') return word;
  note(entry.key, 'is neither outline nor inline and is ignored');
  return undefined;
}

/**
 * Parses `bins: curl`, `bins: curl, jq` and `bins: [curl, jq]`; other values are left for the
 * schema to refuse.
 */
function splitWords(value: unknown): readonly unknown[] {
  if (value === null || value === undefined || value === false) return [];
  if (typeof value === 'number') return [String(value)];
  if (Array.isArray(value)) return value.flatMap(splitWords);
  if (typeof value !== 'string') return [value];
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function readRequirements(value: unknown, note: NoteProblem) {
  const block = parseObject(value);
  const isBlock = typeof block === 'object' && block !== null && !Array.isArray(block);
  if (!isBlock && !isEmptyEntry({ key: '', value, raw: '', guess: null })) {
    note('requires', 'is not a block with bins, anyBins, env, config or tools and is ignored');
  }
  const folded = foldEntries(toFrontMatterEntries(isBlock ? block : {}), note);
  const words = (key: string) => splitWords(folded.get(key)?.value);
  return {
    bins: words('bins'),
    anybins: words('anybins'),
    env: words('env'),
    config: words('config'),
    tools: words('tools'),
  };
}

/** The emoji is only shown to people, so a mistake in it does not disable the skill. */
function readEmoji(value: unknown): string | null {
  return typeof value === 'string' ? cleanOneLine(value).slice(0, 16) || null : null;
}

const MAX_STEPS = 8;

function readInstallSteps(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value)
    ? value
    : typeof value === 'object' && value !== null
      ? Object.values(value)
      : [value];
  const steps = list.flatMap((step): readonly InstallStep[] => {
    const { data } = InstallStep.safeParse(step);
    return data === undefined ? [] : [data];
  });
  return steps.slice(0, MAX_STEPS).map(formatStepLabel);
}

function formatStepLabel(step: InstallStep): string {
  const label = typeof step === 'string' ? step : (step.label ?? step.id ?? step.kind ?? '');
  return cleanOneLine(label).slice(0, 120) || 'a step without a name';
}
