import { hash } from 'node:crypto';
import type { ModelTool } from '@parley/models';
import type { AssembledPrompt, SystemPart } from '@parley/prompt';
import { estimateTokens } from '@parley/workspace';
import type { EvalCase, PromptOutline } from './eval-case.ts';

type OutlinedLayer = PromptOutline['layers'][number];

/**
 * The layers that show what people and days have added: memories, notes, lists and messages. Their
 * text differs from day to day although nothing is wrong, so a case brings its own text for them.
 */
const DATA_LAYERS: ReadonlySet<string> = new Set([
  ...['profile', 'memory-file', 'group-memory', 'yesterday', 'daily-notes', 'knowledge'],
  ...['memories', 'todos', 'mentioned-files', 'attachments', 'own-messages', 'group-context'],
  ...['called-skills', 'boot-file', 'heartbeat'],
]);

/** The layers that state facts about a chat and a message; their ids and times may differ. */
const FACT_LAYERS: ReadonlySet<string> = new Set(['chat-facts', 'turn-facts', 'message-context']);

export function isDataLayer(layer: string): boolean {
  return DATA_LAYERS.has(layer);
}

interface OutlinedRequest {
  readonly prompt: AssembledPrompt;
  readonly tools: readonly ModelTool[];
  readonly limits: Readonly<Record<string, number>>;
}

/** Describes a request so that a meaningful change shows, and other ids, times and spaces do not. */
export function outlinePrompt({ prompt, tools, limits }: OutlinedRequest): PromptOutline {
  const { layout, system, userContext } = prompt;
  const outline = (
    { layer, audience, text }: AssembledPrompt['userContext'][number],
    placement: OutlinedLayer['placement'],
    stable: boolean,
  ): OutlinedLayer => ({
    ...{ layer, placement, audience: audience.kind, stable },
    text: isDataLayer(layer) ? null : toPrint(normalizeLayer(layer, text)),
  });
  return {
    layout,
    layers: [
      ...system.map((part) => outline(part, 'system', part.stable)),
      ...userContext.map((part) => outline(part, 'user', false)),
    ],
    tools: tools.map((tool) => ({
      name: tool.name,
      definition: toPrint(normalizeSpace(JSON.stringify(sortKeys(tool)))),
    })),
    limits: { ...limits },
  };
}

/** 16 characters of a hash, about 96 bits: enough to compare, and short enough to read. */
function toPrint(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 16);
}

function normalizeLayer(layer: string, text: string): string {
  const plain = normalizeSpace(text);
  return FACT_LAYERS.has(layer) ? maskValues(plain) : maskMoments(plain);
}

function normalizeSpace(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Masks dates, times of day, and ids with at least 16 characters that contain a digit. */
function maskMoments(text: string): string {
  return text
    .replace(
      /\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?/g,
      '#',
    )
    .replace(/\b\d{1,2}:\d{2}(?::\d{2})?\b/g, '#')
    .replace(/\b(?=[\w-]*\d)[\w-]{16,}\b/g, '#');
}

/** Also masks every word with a digit, paths, and the names of days and months. */
function maskValues(text: string): string {
  return maskMoments(text)
    .replace(/\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b/g, '#')
    .replace(/(?<![\w<])\/[\w./-]+/g, '#')
    .replace(/\S*\d\S*/g, '#');
}

/** The order of an object's keys means nothing to a model's provider. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const sorted = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([key, inner]) => [key, sortKeys(inner)]));
}

/** Lists the differences between two outlines as sentences; empty if there are none. */
export function compareOutlines(before: PromptOutline, after: PromptOutline): readonly string[] {
  return [
    ...(before.layout === after.layout
      ? []
      : [`The layout is ${after.layout} instead of ${before.layout}.`]),
    ...compareLists(before.layers, after.layers, LAYER),
    ...compareLists(before.tools, after.tools, TOOL),
    ...compareLimits(before.limits, after.limits),
  ];
}

interface ListWords<Item> {
  readonly nameOf: (item: Item) => string;
  readonly describeChange: (before: Item, after: Item) => string | null;
  readonly order: string;
}

const LAYER: ListWords<OutlinedLayer> = {
  nameOf: ({ layer }) => `layer ${layer}`,
  describeChange: (before, after) => {
    if (before.placement !== after.placement)
      return `has moved from the ${before.placement} prompt to the ${after.placement} prompt`;
    if (before.audience !== after.audience)
      return `may be seen by ${after.audience} instead of ${before.audience}`;
    if (before.stable !== after.stable)
      return after.stable ? 'now counts as unchanging' : 'no longer counts as unchanging';
    return before.text === after.text ? null : 'has another text';
  },
  order: 'The layers are in another order.',
};

const TOOL: ListWords<PromptOutline['tools'][number]> = {
  nameOf: ({ name }) => `tool ${name}`,
  describeChange: (before, after) =>
    before.definition === after.definition ? null : 'has another definition',
  order: 'The tools are in another order.',
};

function compareLists<Item>(
  before: readonly Item[],
  after: readonly Item[],
  { nameOf, describeChange, order }: ListWords<Item>,
): readonly string[] {
  const [was, is] = [before, after].map((items) => new Map(items.map((one) => [nameOf(one), one])));
  const found = [...(was ?? [])].flatMap(([name, old]) => {
    const now = is?.get(name);
    const change = now === undefined ? 'is missing' : describeChange(old, now);
    return change === null ? [] : [`The ${name} ${change}.`];
  });
  const added = after.flatMap((item) =>
    was?.has(nameOf(item)) ? [] : [`The ${nameOf(item)} is new.`],
  );
  const names = (items: readonly Item[], others?: ReadonlyMap<string, Item>) =>
    items.map(nameOf).filter((name) => others?.has(name));
  const moved = names(before, is).join('\n') !== names(after, was).join('\n');
  return [...found, ...added, ...(moved ? [order] : [])];
}

function compareLimits(
  before: PromptOutline['limits'],
  after: PromptOutline['limits'],
): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) =>
    before[name] === after[name]
      ? []
      : [`The limit ${name} is ${after[name] ?? 'absent'} instead of ${before[name] ?? 'absent'}.`],
  );
}

/**
 * Gives the prompt of today the recorded text of every data layer. A data layer that the recorded
 * turn lacked is left out, and one that only it had is put where its outline had it.
 */
export function restoreContext(
  prompt: AssembledPrompt,
  { context, prompt: outline }: Pick<EvalCase, 'context' | 'prompt'>,
): AssembledPrompt {
  const layers = outline?.layers ?? [];
  const recorded = new Map(context.map((part) => [part.layer, part]));
  const restore = (
    parts: readonly SystemPart[],
    placement: OutlinedLayer['placement'],
  ): readonly SystemPart[] => {
    const restored = parts.filter(({ layer }) => !isDataLayer(layer));
    const order = layers.filter((one) => one.placement === placement);
    for (const [at, { layer, stable }] of order.entries()) {
      const part = recorded.get(layer);
      if (part === undefined) continue;
      const earlier = new Set(order.slice(0, at).map((one) => one.layer));
      const behind = restored.findLastIndex((one) => earlier.has(one.layer));
      const tokens = estimateTokens(part.text);
      restored.splice(behind + 1, 0, { ...part, source: layer, stable, tokens });
    }
    return restored;
  };
  const userContext = prompt.userContext.map((part) => ({ ...part, stable: false }));
  return {
    ...prompt,
    system: restore(prompt.system, 'system'),
    userContext: restore(userContext, 'user'),
  };
}
