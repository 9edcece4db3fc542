import { silentMeter, silentTracer } from '@parley/core';
import type { ModelTool } from '@parley/models';
import type { AssembledPrompt, SystemPart } from '@parley/prompt';
import type { ToolSet } from '../tools/tool-set.ts';
import { buildPrompt, openTurn } from '../turn/build-prompt.ts';
import { createPreviewMeans, type PromptServices } from '../turn/means.ts';
import type { PreviewServices } from '../turn/preview-turn.ts';
import { createRecordedToolSet, type RebuiltTurn } from './rebuild-request.ts';
import type { TurnRecord } from './recorded-turn.ts';

/**
 * A change to an agent: its services before and after. Only what differs between the two replaces
 * what is recorded, so that a day-old turn does not get today's date, files or memories.
 */
export interface AgentChange {
  readonly before: PreviewServices;
  readonly after: PreviewServices;
}

/** Applies a change to a turn's recorded prompt and tools. Hooks and plugins are not run. */
export async function changePrompt(
  record: TurnRecord,
  { draft, tools }: RebuiltTurn,
  change: AgentChange,
  signal: AbortSignal,
): Promise<Pick<RebuiltTurn, 'draft' | 'tools'>> {
  const before = await buildAgain(record, change.before, signal);
  const after = await buildAgain(record, change.after, signal);
  const { offered } = tools.offer([]);
  const merged = mergeChanged(offered, listAll(before.tools), listAll(after.tools), TOOLS);
  const parts = mergeChanged(
    listParts(draft.prompt),
    listParts(before.draft.prompt),
    listParts(after.draft.prompt),
    LAYERS,
  );
  const { layout, fence } = after.draft.prompt;
  const prompt: AssembledPrompt = {
    ...{ layout, report: [] },
    ...(fence !== undefined && { fence }),
    system: parts.filter(({ placement }) => placement === 'system'),
    userContext: parts.filter(({ placement }) => placement === 'user'),
  };
  return { draft: { ...draft, prompt }, tools: createRecordedToolSet(merged, record.opened) };
}

async function buildAgain(record: TurnRecord, services: PreviewServices, signal: AbortSignal) {
  const { turn, lane, media } = record;
  const means = lane({ ...createPreviewMeans({ ...services, hooks: [] }), hooks: [] });
  const building: PromptServices = { ...services, meter: silentMeter, tracer: silentTracer };
  const opened = await openTurn(turn, services, media);
  const past = async () => ({ summary: null, transcript: [] });
  return buildPrompt(turn, opened, means, building, past, signal);
}

/** All tools, as if every group were open. */
function listAll({ groups, offer }: ToolSet): readonly ModelTool[] {
  return offer([...new Set(groups.values())]).offered;
}

type PlacedPart = SystemPart & { readonly placement: 'system' | 'user' };

function listParts({ system, userContext }: AssembledPrompt): readonly PlacedPart[] {
  return [
    ...system.map((part) => ({ ...part, placement: 'system' as const })),
    ...userContext.map((part) => ({ ...part, stable: false, placement: 'user' as const })),
  ];
}

interface Merging<Part> {
  readonly nameOf: (part: Part) => string;
  readonly isSame: (one: Part, other: Part) => boolean;
  /** The recorded part in the place of an unchanged one. */
  readonly keep: (recorded: Part, unchanged: Part) => Part;
}

const LAYERS: Merging<PlacedPart> = {
  nameOf: ({ layer }) => layer,
  isSame: ({ text }, other) => text === other.text,
  keep: (recorded, { placement, stable }) => ({ ...recorded, placement, stable }),
};

const TOOLS: Merging<ModelTool> = {
  nameOf: ({ name }) => name,
  isSame: (one, other) => JSON.stringify(one) === JSON.stringify(other),
  keep: (recorded) => recorded,
};

/**
 * Merges a change into what is recorded: parts that the change leaves alone are as recorded,
 * changed and new ones are those after the change, and removed ones are removed. Parts that only
 * the record has, such as those of hooks and plugins, stay behind their predecessor.
 */
function mergeChanged<Part>(
  recorded: readonly Part[],
  before: readonly Part[],
  after: readonly Part[],
  { nameOf, isSame, keep }: Merging<Part>,
): readonly Part[] {
  const byName = (parts: readonly Part[]) => new Map(parts.map((part) => [nameOf(part), part]));
  const [kept, was, is] = [byName(recorded), byName(before), byName(after)];
  const merged = after.flatMap((part) => {
    const name = nameOf(part);
    const old = was.get(name);
    if (old === undefined || !isSame(old, part)) return [part];
    const own = kept.get(name);
    return own === undefined ? [] : [keep(own, part)];
  });
  for (const [at, part] of recorded.entries()) {
    const name = nameOf(part);
    if (was.has(name) || is.has(name)) continue;
    const earlier = new Set(recorded.slice(0, at).map(nameOf));
    const behind = merged.findLastIndex((one) => earlier.has(nameOf(one)));
    merged.splice(behind + 1, 0, part);
  }
  return merged;
}
