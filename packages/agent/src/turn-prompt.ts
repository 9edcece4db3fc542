import { arch, homedir, type as osType } from 'node:os';
import {
  type InboundMessage,
  type Logger,
  type Reader,
  type ResponseFormat,
  type RuntimeFacts,
  reasonOf,
  SILENT_TOKEN,
} from '@parley/core';
import type {
  AssembledPrompt,
  ContextSource,
  FixForSession,
  PromptFeatures,
  SourceTurn,
} from '@parley/prompt';
import { type ClaimedTurn, isOwnMessage, type Store } from '@parley/store';
import { decideBootstrap, restrictView, type Workspace } from '@parley/workspace';
import { approvalsNote } from './approvals/approval-policy.ts';
import { mentionedFiles } from './tools/mentioned-files.ts';
import { actsLacking } from './tools/own-messages.ts';
import { READ_DOCUMENT } from './tools/read-document.ts';
import { SPEAK } from './tools/speak.ts';
import { type ToolSet, toolsInMode } from './tools/tool-registry.ts';
import type { TurnAdditions } from './turn-hooks.ts';
import {
  type AgentContext,
  deliversElsewhere,
  leadingMessage,
  type OpenedTurn,
  openTurn,
  responseFormatOf,
} from './turn-opening.ts';
import type { TurnServices } from './turn-services.ts';

/** What a prompt is made from; a preview has no more. */
export interface PromptServices
  extends AgentContext,
    Pick<TurnServices, 'prompt' | 'sources' | 'tools' | 'promptMode' | 'hooks' | 'hookMs' | 'log'> {
  readonly approvals?: Pick<NonNullable<TurnServices['approvals']>, 'rules'>;
  /** The model that answers; a conversation may have chosen another than the agent's. */
  readonly model?: Pick<TurnServices['model'], 'id'> | undefined;
  /** Absent for a prompt that belongs to no session: it fixes nothing for later turns. */
  readonly pins?: Pick<Store['pins'], 'fix'> | undefined;
}

export interface TurnPromptExtras {
  readonly opened?: OpenedTurn;
  readonly additions?: TurnAdditions;
  /** Awaited after the sources have been asked. */
  readonly tools?: Promise<ToolSet>;
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
  const fixing = deps.pins === undefined ? {} : { fix: fixIn(deps.pins, turn, reader, deps) };
  const atHand = { facts, reader, view, messages, ...fixing, conversationId, session };
  const features = await gatherFeatures(deps.sources, atHand, deps.log);
  const mentioned = await mentionedFiles(view, messages);
  const tools = (await extras.tools) ?? toolsInMode(toolsOf(deps, reader, turn), turn.mode);
  const format = responseFormatOf(turn, deps.agent);
  const context = {
    ...attachmentsOf(messages),
    // A program waits for its answer.
    ...(format === undefined ? silenceIn(facts, features) : { responseSchema: schemaOf(format) }),
    replyTags: leadingMessage(turn).route.quotes === true,
    ...features,
    ...(mentioned.length > 0 && { mentioned }),
    ...approvalsNote(tools, deps.approvals?.rules),
    owners: ownersIn(turn, deps.owners),
    conversationMode: turn.mode ?? 'agent',
    tools: tools.notes,
    facts,
    reader,
    view,
    identity,
    messages,
    ...fixing,
    groupContext: turn.groupContext.filter((message) => !isOwnMessage(message)),
    ownMessages: turn.groupContext
      .filter(isOwnMessage)
      .map(({ senderName: what, text }) => ({ what, text })),
    target: leadingMessage(turn).route.target,
    clockMinutes: deps.agent.clockMinutes,
    turnLimits: deps.agent.turnLimits,
    home: homedir(),
    os: `${osType()} (${arch()})`,
    model: deps.model?.id,
    ...(deps.promptMode !== undefined && { mode: deps.promptMode }),
  };
  return deps.prompt.assemble(context, extras.additions);
}

function schemaOf(format: ResponseFormat): object {
  return format === 'json' ? { type: 'object' } : format;
}

/** The named ones, and accounts that an owner linked, as far as they write in this turn (F13). */
function ownersIn({ messages }: ClaimedTurn, named: readonly string[]): readonly string[] {
  const linked = messages.flatMap(({ message, fromOwner }) =>
    fromOwner === true ? [`${message.channel}:${message.sender.id}`] : [],
  );
  return [...named, ...linked];
}

/** What is fixed for an owner must not reach a later guest of the same chat. */
function fixIn(
  pins: NonNullable<PromptServices['pins']>,
  turn: ClaimedTurn,
  { kind }: Reader,
  { clock }: Pick<PromptServices, 'clock'>,
): FixForSession {
  return async (key, value, schema) =>
    schema.parse(await pins.fix(turn, `${kind}:${key}`, value, clock()));
}

/** `hasDocuments`: the turn can name one. */
export function toolsOf(
  { tools }: Pick<PromptServices, 'tools'>,
  reader: Reader,
  turn: ClaimedTurn,
  hasDocuments = false,
): ToolSet {
  const { route } = leadingMessage(turn);
  // What is answered elsewhere shows nobody there the files of this chat (W02).
  const mayReadOn = hasDocuments && !deliversElsewhere(turn);
  const lacking = [
    ...actsLacking(route),
    ...(mayReadOn ? [] : [READ_DOCUMENT]),
    ...(route.voice === true ? [] : [SPEAK]),
  ];
  return tools?.for(reader, lacking) ?? NO_TOOLS;
}

const NO_TOOLS: ToolSet = {
  get: () => undefined,
  names: [],
  notes: [],
  offered: [],
  tokens: 0,
  foreign: new Set(),
  sizes: new Map(),
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

/** Marks the turn that does what BOOT.md asks for after a start (W08), only in an owner's direct chat. */
export const bootSource: ContextSource = {
  id: 'boot',
  async gather({ reader, messages }) {
    const isBoot = messages.some(({ trigger }) => trigger === 'boot');
    return isBoot && reader.kind === 'owner' ? { boot: true } : {};
  },
};

const BOOTSTRAP_FILE = 'BOOTSTRAP.md';

/**
 * Marks the turns that BOOTSTRAP.md leads (W08), and retires the file afterwards. Only messages of an
 * owner in a direct chat count, not a heartbeat or a start. A preview (without `fix`) changes nothing.
 */
export function createBootstrapSource({ bootstrap }: Pick<Workspace, 'bootstrap'>): ContextSource {
  return {
    id: 'bootstrap',
    reads: [BOOTSTRAP_FILE],
    async gather({ reader, facts, messages, view, conversationId, session, fix }) {
      const isTalk = !facts.heartbeat && messages.every(({ trigger }) => trigger === undefined);
      const mark = reader.kind === 'owner' && isTalk ? await bootstrap.mark() : null;
      if (mark === null) return {};
      const file = await view.read(BOOTSTRAP_FILE);
      const { messageId } = facts;
      const turn = { conversationId, session, messageId };
      const step = decideBootstrap(mark, file.kind === 'file', turn);
      if (fix !== undefined && step.kind === 'retire') await bootstrap.retire();
      if (fix !== undefined && step.kind === 'lead') await bootstrap.keep(step.mark);
      return step.kind === 'lead' ? { bootstrap: true } : {};
    },
  };
}
