import { homedir } from 'node:os';
import {
  type InboundMessage,
  type Logger,
  type Reader,
  type RuntimeFacts,
  SILENT_TOKEN,
} from '@parley/contracts';
import type {
  AssembledPrompt,
  ContextSource,
  FixForSession,
  PromptAssembler,
  PromptFeatures,
  PromptMode,
} from '@parley/prompt';
import type { ClaimedTurn, Store } from '@parley/store';
import type { ApprovalRules } from './approvals/approval-policy.ts';
import { approvalsNote } from './approvals/approvals-note.ts';
import { gatherFeatures } from './gather-features.ts';
import { toolsInMode } from './modes/tools-in-mode.ts';
import type { ToolRegistry, ToolSet } from './tools/tool-registry.ts';
import type { TurnAdditions } from './turn-hooks.ts';
import { leadingMessage, type OpenedTurn, type OpenTurnDeps, openTurn } from './turn-opening.ts';

/** What the prompt of a turn is made from. */
export interface TurnPromptDeps extends OpenTurnDeps {
  readonly prompt: PromptAssembler;
  /** What each feature has to say; later ones win where two fill in the same field. */
  readonly sources: readonly ContextSource[];
  /** Without it the agent has no tools. */
  readonly tools?: ToolRegistry;
  /** Which of them need a yes; without it nobody is ever asked. */
  readonly approvals?: { readonly rules: ApprovalRules };
  readonly store: Pick<Store, 'pins'>;
  /** How much of the layout; all of it when absent. */
  readonly promptMode?: PromptMode;
  readonly log: Logger;
}

/** What is known of a turn beyond its messages. */
export interface TurnPromptExtras {
  /** As `openTurn` found it. */
  readonly opened?: OpenedTurn;
  /** What hooks add. */
  readonly additions?: TurnAdditions;
  /** The tools that the turn has; without it those there are now. */
  readonly tools?: ToolSet;
}

/** The prompt of a turn, built anew each time (P01). */
export async function turnPrompt(
  turn: ClaimedTurn,
  deps: TurnPromptDeps,
  extras: TurnPromptExtras = {},
): Promise<AssembledPrompt> {
  const opened = extras.opened ?? (await openTurn(turn, '', deps));
  const { facts, reader, view, identity } = opened;
  const messages = turn.messages.map(({ message }) => message);
  const { conversationId, session } = turn;
  // What an owner saw must not come back when the same chat is somebody else's.
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
    // The model is told of exactly those tools that it is offered.
    ...approvalsNote(tools, deps.approvals?.rules),
    conversationMode: turn.mode ?? 'agent',
    tools: tools.notes,
    facts,
    reader,
    view,
    identity,
    messages,
    fix,
    overheard: turn.overheard,
    target: leadingMessage(turn).route.target,
    home: homedir(),
    ...(deps.promptMode !== undefined && { mode: deps.promptMode }),
  };
  return deps.prompt.assemble(context, extras.additions);
}

/** The tools of a turn. */
export function toolsOf({ tools }: Pick<TurnPromptDeps, 'tools'>, reader: Reader): ToolSet {
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

/** Kinds alone: names and types were chosen by chat users (P18). */
function attachmentsOf(messages: readonly InboundMessage[]): Pick<PromptFeatures, 'attachments'> {
  const attachments = messages.flatMap((message) =>
    (message.attachments ?? []).map(({ kind }) => ({ kind })),
  );
  return attachments.length === 0 ? {} : { attachments };
}

/** Where others talk, and where nobody has asked, the agent may have nothing to say (G09). */
function silenceIn(
  { chatType }: RuntimeFacts,
  { boot }: PromptFeatures,
): Pick<PromptFeatures, 'silentToken'> {
  return chatType === 'direct' && boot !== true ? {} : { silentToken: SILENT_TOKEN };
}
