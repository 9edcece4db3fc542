import { homedir } from 'node:os';
import {
  type InboundMessage,
  type Logger,
  type Reader,
  type RuntimeFacts,
  reasonOf,
  SILENT_TOKEN,
} from '@parley/core';
import type {
  AssembledPrompt,
  ContextSource,
  FixForSession,
  HeartbeatNote,
  PromptContext,
  PromptFeatures,
  PromptMode,
  SourceTurn,
} from '@parley/prompt';
import type { ClaimedTurn, Store } from '@parley/store';
import { restrictView } from '@parley/workspace';
import { approvalsNote } from './approvals/approval-policy.ts';
import { checkedRequest } from './loop/checked-request.ts';
import { type ToolSet, toolsInMode } from './tools/tool-registry.ts';
import { runBefore, type TurnAdditions } from './turn-hooks.ts';
import {
  type AgentContext,
  leadingMessage,
  type OpenedTurn,
  openTurn,
  textOf,
} from './turn-opening.ts';
import type { TurnServices } from './turn-services.ts';

/** What a prompt is made from; a preview has no more. */
export interface PromptServices
  extends AgentContext,
    Pick<TurnServices, 'prompt' | 'sources' | 'tools' | 'promptMode' | 'hooks' | 'hookMs' | 'log'> {
  readonly approvals?: Pick<NonNullable<TurnServices['approvals']>, 'rules'>;
  readonly store: Pick<Store, 'pins'>;
}

export interface TurnPromptExtras {
  readonly opened?: OpenedTurn;
  readonly additions?: TurnAdditions;
  readonly tools?: ToolSet;
}

/** The prompt of a turn, built for each turn (P01). */
export async function turnPrompt(
  turn: ClaimedTurn,
  deps: PromptServices,
  extras: TurnPromptExtras = {},
): Promise<AssembledPrompt> {
  const opened = extras.opened ?? (await openTurn(turn, '', deps));
  const { facts, reader, view, identity } = opened;
  const messages = turn.messages.map(({ message }) => message);
  const { conversationId, session } = turn;
  // What is fixed for an owner must not reach a later guest of the same chat.
  const fix: FixForSession = async (key, value, schema) =>
    schema.parse(await deps.store.pins.fix(turn, `${reader.kind}:${key}`, value, deps.clock()));
  const atHand = { facts, reader, view, messages, fix, conversationId, session };
  const features = await gatherFeatures(deps.sources, atHand, deps.log);
  const tools = extras.tools ?? toolsInMode(toolsOf(deps, reader), turn.mode);
  const context = {
    ...attachmentsOf(messages),
    ...silenceIn(facts, features),
    replyTags: leadingMessage(turn).route.quotes === true,
    ...features,
    ...approvalsNote(tools, deps.approvals?.rules),
    conversationMode: turn.mode ?? 'agent',
    tools: tools.notes,
    facts,
    reader,
    view,
    identity,
    messages,
    fix,
    groupContext: turn.groupContext,
    target: leadingMessage(turn).route.target,
    home: homedir(),
    ...(deps.promptMode !== undefined && { mode: deps.promptMode }),
  };
  return deps.prompt.assemble(context, extras.additions);
}

export function toolsOf({ tools }: Pick<PromptServices, 'tools'>, reader: Reader): ToolSet {
  return tools?.for(reader) ?? NO_TOOLS;
}

const NO_TOOLS: ToolSet = {
  get: () => undefined,
  names: [],
  notes: [],
  offered: [],
  tokens: 0,
  foreign: new Set(),
};

/** Only the kinds: chat users choose names and types (P18). */
function attachmentsOf(messages: readonly InboundMessage[]): Pick<PromptFeatures, 'attachments'> {
  const attachments = messages.flatMap((message) =>
    (message.attachments ?? []).map(({ kind }) => ({ kind })),
  );
  return attachments.length === 0 ? {} : { attachments };
}

/** In groups and at a start the agent may stay silent (G09). */
function silenceIn(
  { chatType }: RuntimeFacts,
  { boot }: PromptFeatures,
): Pick<PromptFeatures, 'silentToken'> {
  return chatType === 'direct' && boot !== true ? {} : { silentToken: SILENT_TOKEN };
}

type Gathered = Awaited<ReturnType<ContextSource['gather']>>;

/**
 * Asks all sources; each sees the files that it declares. The later one wins where two fill in the same
 * field, except for called skills, which are joined. One that throws is left out and logged.
 */
export async function gatherFeatures(
  sources: readonly ContextSource[],
  turn: SourceTurn,
  log: Logger,
): Promise<Gathered> {
  const gathered = await Promise.all(
    sources.map(async (source): Promise<Gathered> => {
      try {
        return await source.gather({ ...turn, view: restrictView(turn.view, source, log) });
      } catch (error) {
        log.error(
          { source: source.id, reason: reasonOf(error) },
          'a source of the prompt failed and was left out',
        );
        return {};
      }
    }),
  );
  const calledSkills = gathered.flatMap((features) => features.calledSkills ?? []);
  return Object.assign({}, ...gathered, calledSkills.length > 0 ? { calledSkills } : {});
}

export interface PreviewChange {
  readonly mode?: PromptMode | undefined;
  /** As a heartbeat run instead of an answer. */
  readonly heartbeat?: boolean | undefined;
}

/** Everything of a turn but what it writes to. */
export type PreviewServices = Omit<PromptServices, 'store'>;

/**
 * The prompt that a turn would send (P17), built as for real turns: hooks, sources, layers and the last
 * check. It belongs to no session, so it changes nothing.
 */
export async function previewTurn(
  turn: ClaimedTurn,
  change: PreviewChange,
  deps: PreviewServices,
): Promise<AssembledPrompt> {
  const text = textOf(turn.messages, () => []);
  const opened = await openTurn(turn, text, deps);
  const facts = { ...opened.facts, heartbeat: change.heartbeat === true };
  const additions = await runBefore(deps, { ...opened, facts }, new AbortController().signal);
  const prompt = await turnPrompt(turn, withoutSession(deps, change), {
    opened: { ...opened, facts },
    additions,
  });
  const draft = {
    prompt,
    transcript: [],
    history: { entries: 0, tokens: 0 },
    now: { role: 'user', content: text },
    rounds: [],
    tools: { offered: [], tokens: 0 },
  } as const;
  return checkedRequest(draft, opened.reader, deps.log).prompt;
}

function withoutSession(deps: PreviewServices, { mode, heartbeat }: PreviewChange): PromptServices {
  return {
    ...deps,
    sources: deps.sources.map((source) => ({
      ...source,
      gather: ({ fix: _fix, ...turn }) => source.gather(turn),
    })),
    prompt: {
      assemble({ fix: _fix, ...context }: PromptContext, additions) {
        const task = context.heartbeat ?? SOME_TASK;
        return deps.prompt.assemble(
          {
            ...context,
            ...(mode !== undefined && { mode }),
            ...(heartbeat === true && { heartbeat: task }),
          },
          additions,
        );
      },
    },
    store: { pins: { fix: async (_place, _key, content) => content } },
  };
}

const SOME_TASK: HeartbeatNote = {
  task: 'example',
  instruction: 'An example of a standing task: look whether anything needs attention.',
  schedule: 'every 30 min',
};
