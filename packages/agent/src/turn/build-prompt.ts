import { arch, homedir, type as osType } from 'node:os';
import {
  type InboundMessage,
  type Logger,
  type ResponseFormat,
  type RuntimeFacts,
  reasonOf,
  SILENT_TOKEN,
} from '@parley/core';
import type { UserMessage } from '@parley/models';
import {
  type AssembledPrompt,
  type ContextSource,
  type Identity,
  type PinForSession,
  type PromptFeatures,
  readIdentity,
  type SourceTurn,
} from '@parley/prompt';
import { isBotMessage } from '@parley/store';
import { restrictView } from '@parley/workspace';
import { createApprovalsNote } from '../approvals/approval-policy.ts';
import type { HistorySnapshot } from '../context/summary.ts';
import type { RequestDraft } from '../loop/model-request.ts';
import { mentionsDocument } from '../media/attachment-text.ts';
import { createEmptyTurnMedia, type TurnMedia } from '../media/turn-media.ts';
import { readMentionedFiles } from '../tools/mentioned-files.ts';
import { DOCUMENTS, listOpenGroups } from '../tools/open-tools.ts';
import { listMissingActions } from '../tools/own-messages.ts';
import { READ_DOCUMENT } from '../tools/read-document.ts';
import { SPEAK } from '../tools/speak.ts';
import { createToolSet, listToolsInMode, type ToolSet } from '../tools/tool-set.ts';
import { listClientHistory, listClientInstructions } from './client-request.ts';
import type { PromptMeans, PromptServices } from './means.ts';
import { type AgentContext, deliversElsewhere, type Turn, toSenderId } from './turn.ts';
import { runBeforeHooks, type TurnAdditions, type TurnOpening } from './turn-hooks.ts';
import { joinMessageTexts } from './turn-text.ts';

export interface OpenedTurn extends TurnOpening {
  readonly identity: Identity;
  readonly messages: readonly InboundMessage[];
  readonly media: TurnMedia;
}

/** Opens the workspace for a turn's reader, and reads the agent's name from it. */
export async function openTurn(
  turn: Turn,
  { workspace, agent }: Pick<AgentContext, 'workspace' | 'agent'>,
  media = createEmptyTurnMedia(),
): Promise<OpenedTurn> {
  const { reader } = turn;
  const view = workspace.for(reader);
  const identity = await readIdentity(view, { agent: agent.identity });
  const facts = { ...turn.facts, agent: { id: agent.id, name: identity.name } };
  const text = joinMessageTexts(turn.messages, (row) => [
    ...listClientInstructions(row, reader),
    ...media.forModel(row),
  ]);
  const messages = turn.messages.map(({ message }) => message);
  return { facts, reader, view, identity, text, messages, media };
}

/** The part shared by all requests of a turn, and the tools that it offers. */
export interface TurnDraft {
  readonly tools: ToolSet;
  /** The tool groups that are open at the start of the turn. */
  readonly openGroups: readonly string[];
  readonly draft: Omit<RequestDraft, 'rounds' | 'tools' | 'closing'>;
}

/**
 * Builds a turn's prompt, tools, history and newest message (P01). Previews use this function as
 * well, so that they equal what a turn sends (P17). `past` reads the history.
 */
export async function buildPrompt(
  turn: Turn,
  opened: OpenedTurn,
  means: PromptMeans,
  services: PromptServices,
  past: () => Promise<HistorySnapshot>,
  signal: AbortSignal,
): Promise<TurnDraft> {
  const { tracer, meter, monotonic } = services;
  const additions = await runBeforeHooks({ ...services, hooks: means.hooks }, opened, signal);
  const startedAt = monotonic();
  const [prompt, read, selected] = await tracer.span('parley.prompt', {}, () => {
    const reading = past();
    // The tools are resolved once per turn: MCP servers connect and disconnect, and the prompt must
    // list exactly the tools that can be called.
    const offering = reading.then(({ transcript }) =>
      selectTools(turn, means, opened.media.hasDocuments || transcript.some(mentionsDocument)),
    );
    const tools = offering.then((selected) => selected.tools);
    const assembling = assemblePrompt(turn, opened, means, services, tools, additions);
    // All promises are awaited here: if the history cannot be read, those that depend on it reject
    // before the assembly awaits them, which would otherwise end the process.
    return Promise.all([assembling, reading, offering, tools]);
  });
  meter.observe('parley_prompt_seconds', monotonic() - startedAt);
  const given = listClientHistory(turn.messages);
  const draft = {
    ...{ prompt, ...read, history: means.history, contextTokens: means.contextTokens?.() },
    ...(given.length > 0 && { transcript: [...given, ...read.transcript] }),
    now: createNewestMessage(opened),
  };
  return { ...selected, draft };
}

type SelectedTools = Pick<TurnDraft, 'tools' | 'openGroups'>;

/**
 * Selects the tools of a turn. `hasDocuments` says whether the turn can name a document; from then
 * on, the tool that reads them stays offered.
 */
function selectTools(
  turn: Turn,
  { tools: registry }: PromptMeans,
  hasDocuments: boolean,
): SelectedTools {
  const { route, reader, mode, messages, openToolGroups = [] } = turn;
  if (registry === undefined) return { tools: createToolSet([], false), openGroups: [] };
  // If the answer goes to another chat, its readers must not see the files from this chat (W02).
  const mayReadOn =
    (hasDocuments || openToolGroups.includes(DOCUMENTS)) && !deliversElsewhere(messages);
  const lacking = [
    ...listMissingActions(route),
    ...(mayReadOn ? [] : [READ_DOCUMENT]),
    ...(route.voice === true ? [] : [SPEAK]),
  ];
  const tools = listToolsInMode(registry.for(reader, lacking), mode);
  return { tools, openGroups: listOpenGroups([...openToolGroups, DOCUMENTS], [], tools) };
}

function createNewestMessage({ text, messages, media }: OpenedTurn): UserMessage {
  return {
    role: 'user',
    content: text,
    said: messages.map((message) => message.text).join('\n'),
    ...(media.images.length > 0 && { images: media.images }),
    ...(media.attached.length > 0 && { attached: media.attached }),
  };
}

async function assemblePrompt(
  turn: Turn,
  { facts, reader, view, identity, messages }: OpenedTurn,
  means: PromptMeans,
  services: PromptServices,
  offering: Promise<ToolSet>,
  additions: TurnAdditions,
): Promise<AssembledPrompt> {
  const { agent, owners, log } = services;
  const { conversationId, session, route, format, groupContext } = turn;
  const known = { facts, reader, view, messages, ...fixForSession(turn, services) };
  const features = await gatherContext(means.sources, { ...known, conversationId, session }, log);
  const mentioned = await readMentionedFiles(view, messages);
  // The promise is awaited only after all sources have started.
  const tools = await offering;
  const context = {
    ...listAttachmentKinds(messages),
    // If the answer has a format, a program waits for it, so the agent must not stay silent.
    ...(format === undefined
      ? resolveSilentToken(facts, features)
      : { responseSchema: getFormatSchema(format) }),
    replyTags: route.quotes === true,
    ...features,
    ...(mentioned.length > 0 && { mentioned }),
    ...createApprovalsNote(tools, services.approvals?.rules),
    owners: [...owners, ...listLinkedOwners(turn)],
    conversationMode: turn.mode ?? 'agent',
    tools: tools.notes,
    ...known,
    identity,
    groupContext: groupContext.filter((message) => !isBotMessage(message)),
    ownMessages: groupContext
      .filter(isBotMessage)
      .map(({ senderName: what, text }) => ({ what, text })),
    target: route.target,
    clockMinutes: agent.clockMinutes,
    turnLimits: agent.turnLimits,
    home: homedir(),
    os: `${osType()} (${arch()})`,
    model: means.model?.id,
    ...(means.mode !== undefined && { mode: means.mode }),
  };
  return services.prompt.assemble(context, additions);
}

function getFormatSchema(format: ResponseFormat): object {
  return format === 'json' ? { type: 'object' } : format;
}

/** The accounts linked to an owner among the people who write in this turn (F13). */
function listLinkedOwners({ messages }: Turn): readonly string[] {
  return messages.filter(({ fromOwner }) => fromOwner === true).map(toSenderId);
}

/**
 * Fixes values for a session, per kind of reader: values fixed for an owner must not reach a later
 * guest of the same chat.
 */
function fixForSession(
  turn: Turn,
  { pins, clock }: PromptServices,
): { readonly fix?: PinForSession } {
  if (pins === undefined) return {};
  const { kind } = turn.reader;
  return {
    fix: async (key, value, schema) =>
      schema.parse(await pins.fix(turn, `${kind}:${key}`, value, clock())),
  };
}

/**
 * The notice lists only the kinds of attachments, because chat users choose names and types (P18).
 */
function listAttachmentKinds(
  messages: readonly InboundMessage[],
): Pick<PromptFeatures, 'attachments'> {
  const attachments = messages.flatMap((message) =>
    (message.attachments ?? []).map(({ kind }) => ({ kind })),
  );
  return attachments.length === 0 ? {} : { attachments };
}

/** In groups and in the turn after a start, the agent may stay silent (G09). */
function resolveSilentToken(
  { chatType }: RuntimeFacts,
  { boot }: PromptFeatures,
): Pick<PromptFeatures, 'silentToken'> {
  return chatType === 'direct' && boot !== true ? {} : { silentToken: SILENT_TOKEN };
}

type GatheredContext = Awaited<ReturnType<ContextSource['gather']>>;

/**
 * Asks all sources for their fields; each source sees only the files that it declares. If two
 * sources provide the same field, the later one takes precedence, except that invoked skills are
 * joined. A source that throws is omitted and logged.
 */
export async function gatherContext(
  sources: readonly ContextSource[],
  turn: SourceTurn,
  log: Logger,
): Promise<GatheredContext> {
  const gathered = await Promise.all(
    sources.map(async (source): Promise<GatheredContext> => {
      try {
        return await source.gather({ ...turn, view: restrictView(turn.view, source, log) });
      } catch (error) {
        log.error(
          { source: source.id, reason: reasonOf(error) },
          'a prompt source failed and was left out',
        );
        return {};
      }
    }),
  );
  const calledSkills = gathered.flatMap((features) => features.calledSkills ?? []);
  return Object.assign({}, ...gathered, calledSkills.length > 0 ? { calledSkills } : {});
}
