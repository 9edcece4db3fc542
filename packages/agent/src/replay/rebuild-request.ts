import { type Logger, mayRead, neutralizeTemplateTokens } from '@parley/core';
import type { ModelRequest, ModelTool, UserMessage } from '@parley/models';
import { type AssembledPrompt, getLayout } from '@parley/prompt';
import { hashMessage, type NumberedEntry, type StoredPrompt } from '@parley/store';
import { z } from 'zod';
import { type HistoryLimits, listShortenedPasts } from '../context/history.ts';
import { createSummaryPart, Summary } from '../context/summary.ts';
import { buildCheckedRequest, type RequestDraft } from '../loop/model-request.ts';
import type { OpenedTool } from '../loop/turn-journal.ts';
import { estimateToolTokens, type ToolSet } from '../tools/tool-set.ts';
import { listClientHistory, listClientInstructions } from '../turn/client-request.ts';
import { getAudience } from '../turn/turn.ts';
import { joinMessageTexts } from '../turn/turn-text.ts';
import type { MissingFact } from './outcome.ts';
import type { TurnRecord } from './recorded-turn.ts';

/** The limits within which a request is built: those of its agent and its model. */
export interface RequestLimits {
  readonly history: HistoryLimits;
  readonly contextTokens?: number | undefined;
}

/** A turn's first request, and what its later requests are built from. */
export interface RebuiltTurn {
  readonly draft: Omit<RequestDraft, 'rounds' | 'tools' | 'closing'>;
  readonly tools: ToolSet;
  /** The groups of `tools` that are open in the first request. */
  readonly openGroups: readonly string[];
  readonly request: ModelRequest;
}

/** What replaces forgotten text in rows that have to stay. */
const FORGOTTEN = /\[(?:forgotten|deleted)\]/;

/**
 * Builds the first request of a turn again: layers and tool definitions come from the record,
 * everything else from messages and history. Each message is checked against its recorded hash.
 * Returns what is missing if no reading of the history gives the recorded messages.
 */
export function rebuildRequest(
  record: TurnRecord,
  limits: RequestLimits,
  log: Logger,
): RebuiltTurn | MissingFact {
  const { prompt, turn } = record;
  const tools = readRecordedTools(prompt, record.opened);
  if (tools === null) return 'record';
  const isOpen = prompt.parts.every(({ audience }) => mayRead(turn.reader, audience));
  const hasFormat = prompt.parts.some(({ layer }) => layer === 'response-format');
  if (!isOpen || hasFormat !== (turn.format !== undefined)) return 'settings';
  const isFixed = ({ placement }: StoredPrompt['parts'][number]) => placement !== 'user';
  if (prompt.parts.some((part) => isFixed(part) && FORGOTTEN.test(part.text))) return 'forgotten';
  const now = createRecordedMessage(record);
  const assembled = toAssembledPrompt(prompt);
  for (const past of listPossiblePasts(record)) {
    const draft = { prompt: assembled, ...past, now, ...limits };
    const rebuilt = completeRequest(record, draft, tools, log);
    if (isAsRecorded(rebuilt.request, prompt.messages)) return rebuilt;
  }
  // Other limits applied than those of today: another window, or one that the provider had stated.
  const free = { history: { ...limits.history, tokens: Number.POSITIVE_INFINITY } };
  for (const past of listShortened(record)) {
    const draft = { prompt: assembled, ...past, now, ...free };
    const rebuilt = completeRequest(record, draft, tools, log);
    if (isAsRecorded(rebuilt.request, prompt.messages)) return rebuilt;
  }
  if (record.lacksFiles) return 'files';
  const texts = [now.content, ...record.past.entries.map(({ content }) => JSON.stringify(content))];
  return texts.some((text) => FORGOTTEN.test(text)) ? 'forgotten' : 'history';
}

/** Builds the first request from a draft, in the form in which the turn loop builds it. */
export function completeRequest(
  { turn }: Pick<TurnRecord, 'turn'>,
  draft: RebuiltTurn['draft'],
  tools: ToolSet,
  log: Logger,
  openGroups: readonly string[] = [],
): RebuiltTurn {
  const appendsOnly = turn.route.appends === true;
  const first = {
    ...draft,
    tools: tools.offer(openGroups),
    rounds: [],
    format: turn.format,
    appendsOnly,
  };
  const { request } = buildCheckedRequest(first, turn.reader, log);
  return { draft, tools, openGroups, request };
}

function isAsRecorded({ messages }: ModelRequest, recorded: StoredPrompt['messages']): boolean {
  return (
    messages.length === recorded.length &&
    messages.every(({ role, content }, at) => {
      const one = recorded[at];
      return (
        one !== undefined &&
        one.role === role &&
        one.characters === content.length &&
        one.hash === hashMessage(neutralizeTemplateTokens(content))
      );
    })
  );
}

function createRecordedMessage({ turn, media }: TurnRecord): UserMessage {
  const content = joinMessageTexts(turn.messages, (row) => [
    ...listClientInstructions(row, turn.reader),
    ...media.forModel(row),
  ]);
  return {
    role: 'user',
    content,
    said: turn.messages.map(({ message }) => message.text).join('\n'),
    ...(media.images.length > 0 && { images: media.images }),
    ...(media.attached.length > 0 && { attached: media.attached }),
  };
}

/** The recorded layers, in order. Their texts are those that the provider received. */
function toAssembledPrompt({ layout, parts }: StoredPrompt): AssembledPrompt {
  const fence = findFence(layout);
  return {
    ...{ layout, report: [] },
    system: parts.filter(({ placement }) => placement === 'system'),
    userContext: parts.filter(({ placement }) => placement === 'user'),
    ...(fence !== undefined && { fence }),
  };
}

/** The fence around the context of messages that joined; a plugin's layout may be gone. */
function findFence(layout: string): AssembledPrompt['fence'] {
  try {
    return getLayout(layout).userFence;
  } catch {
    return undefined;
  }
}

const RecordedTool = z.strictObject({
  name: z.string(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
});

/**
 * The tools as they were offered, at first and after groups were opened; null if a definition cannot
 * be read.
 */
function readRecordedTools(
  { parts, tools: names }: StoredPrompt,
  opened: readonly OpenedTool[],
): ToolSet | null {
  const lines = parts
    .filter(({ placement }) => placement === 'tools')
    .flatMap(({ text }) => text.split('\n'));
  const offered: ModelTool[] = [];
  for (const line of lines) {
    const tool = parseTool(line);
    if (tool === null) return null;
    offered.push(tool);
  }
  return names.length === offered.length ? createRecordedToolSet(offered, opened) : null;
}

function parseTool(line: string): ModelTool | null {
  try {
    return RecordedTool.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
  }
}

/**
 * A set that offers tools without having any: calls are answered from the journal. `opened` are the
 * tools of the groups that the turn opened.
 */
export function createRecordedToolSet(
  first: readonly ModelTool[],
  opened: readonly OpenedTool[],
): ToolSet {
  // A run that ended right after opening a group may have recorded it twice.
  const later = [...new Map(opened.map((tool) => [tool.name, tool])).values()];
  const callable = [...first, ...later.map(({ group: _, ...tool }) => tool)];
  return {
    ...{ notes: [], foreign: new Set<string>(), sizes: new Map() },
    get: () => undefined,
    names: callable.map(({ name }) => name),
    definitions: callable,
    groups: new Map(later.map(({ name, group }) => [name, group])),
    offer(open) {
      const added = open.flatMap((one) => later.filter(({ group }) => group === one));
      const offered = [...first, ...added.map(({ group: _, ...tool }) => tool)];
      const tokens = estimateToolTokens(offered);
      return { offered, tokens, ...(later.length > 0 && { callable }) };
    },
  };
}

/**
 * The histories that the turn may have read, the most likely one first. A summary may have been
 * finished, and an answer may have failed to arrive, only after the turn had started.
 */
function* listPossiblePasts({
  turn,
  past: { entries, summaries },
}: TurnRecord): Generator<Pick<RequestDraft, 'summary' | 'transcript'>> {
  const given = listClientHistory(turn.messages);
  const all = [...summaries, { content: null, reaches: 0 }];
  for (const { content, reaches } of all) {
    const parsed = Summary.safeParse(content);
    if (reaches > 0 && !parsed.success) continue;
    const summary = parsed.success ? createSummaryPart(parsed.data, turn.reader) : null;
    const since = entries.filter(({ seq }) => seq > reaches);
    for (const read of listDeliveries(since)) yield { summary, transcript: [...given, ...read] };
  }
}

/** The likely histories without their oldest messages, if the record has as many messages. */
function* listShortened(
  record: TurnRecord,
): Generator<Pick<RequestDraft, 'summary' | 'transcript'>> {
  const { messages } = record.prompt;
  const [whole] = listPossiblePasts(record);
  if (whole === undefined) return;
  const { summary = null, transcript } = whole;
  const parts = { summary: summary?.text ?? null, entries: transcript };
  for (const { summary: text, entries } of listShortenedPasts(parts)) {
    // Each entry is at most one message; the notice and the newest message may add one each.
    if (text === null || messages.length > entries.length + 2) continue;
    const part = { source: 'history', audience: getAudience(record.turn.reader), text };
    yield { summary: part, transcript: entries };
  }
}

/** The same entries: as known today, without the last failed delivery, and without any. */
function listDeliveries(entries: readonly NumberedEntry[]): readonly (readonly NumberedEntry[])[] {
  const last = entries.findLastIndex(({ undelivered }) => undelivered !== undefined);
  if (last === -1) return [entries];
  const arrived = ({ undelivered: _, ...entry }: NumberedEntry): NumberedEntry => entry;
  return [
    entries,
    entries.map((entry, at) => (at === last ? arrived(entry) : entry)),
    entries.map(arrived),
  ];
}
