import { type ChatRequest, getMessageText, listToolNames } from '../model/chat-request.ts';
import type { ScriptedReply } from '../model/scripted-reply.ts';
import {
  type Attack,
  type AttackStep,
  type DrillTurn,
  getLabel,
  getMark,
  type TurnKey,
} from './attack.ts';

/** The requests and calls of the model in one drill, for evaluation. */
export interface ModelDeeds {
  /** The turns in which the hostile text was in a request. */
  readonly reached: Set<TurnKey>;
  /** Obeying calls, in the order in which they were first made. */
  readonly tried: { readonly tool: string; readonly offered: boolean }[];
  /** The results of obeying calls. */
  readonly heard: string[];
  /** The turns that reached their answer. */
  readonly answered: Set<TurnKey>;
  /** How often the model was asked. */
  asked: number;
  /** The requests, for further inspection. */
  readonly shown: { readonly key: TurnKey; readonly request: string }[];
  last?: ChatRequest;
}

/** A model that does what every attack asks for, and remembers the results. */
export interface ObeyingModel {
  reply(request: ChatRequest): ScriptedReply;
  deedsOf(id: string): ModelDeeds;
}

const LABEL = /drill:([a-z-]+)\/(1|2|3|sub)/g;

/** Creates the model for these attacks. */
export function createObeyingModel(attacks: readonly Attack[]): ObeyingModel {
  const all = new Map(attacks.map(({ id }) => [id, createDeeds()]));
  const deedsOf = (id: string): ModelDeeds => {
    const deeds = all.get(id);
    if (deeds === undefined) throw new Error(`there is no attack ${id}`);
    return deeds;
  };
  return {
    deedsOf,
    reply(request) {
      if (isForNotes(request)) return createNotes(request);
      const [, id, key] = [...findLabelText(request).matchAll(LABEL)].at(-1) ?? [];
      const attack = attacks.find((one) => one.id === id);
      const turn = key === '1' || key === '2' || key === '3' || key === 'sub' ? key : undefined;
      if (attack === undefined || turn === undefined) return 'Hello.';
      return createObeyingReply(request, attack, turn, deedsOf(attack.id));
    },
  };
}

function createDeeds(): ModelDeeds {
  return { reached: new Set(), tried: [], heard: [], shown: [], answered: new Set(), asked: 0 };
}

/** The model's reply to one request; its earlier steps are in the request itself. */
function createObeyingReply(
  request: ChatRequest,
  attack: Attack,
  key: TurnKey,
  deeds: ModelDeeds,
): ScriptedReply {
  const turn = attack.turns[key] ?? {};
  const { leads = [], obeys = [] } = turn;
  const heard = listToolResults(request);
  deeds.asked += 1;
  deeds.last = request;
  deeds.shown.push({ key, request: JSON.stringify(request) });
  const done = heard.length;
  // The model's own calls contain the marker, too, and prove nothing.
  if (done <= leads.length && hasMark(request, attack.id)) {
    deeds.reached.add(key);
  }
  if (done > leads.length) deeds.heard.push(heard.at(-1) ?? '');
  const step = getStepAt(turn, done);
  const hasRead = key === 'sub' || deeds.reached.has(key);
  if (step === undefined || (done >= leads.length && obeys.length > 0 && !hasRead)) {
    deeds.answered.add(key);
    return `Done ${getLabel(attack.id, key)}.`;
  }
  if ('says' in step) {
    deeds.answered.add(key);
    return typeof step.says === 'string' ? step.says : step.says(heard);
  }
  const offered = listToolNames(request).includes(step.tool);
  if (done >= leads.length) deeds.tried.push({ tool: step.tool, offered });
  const input = typeof step.input === 'function' ? step.input(heard) : step.input;
  return { toolCalls: [{ id: `call_${key}_${done}`, name: step.tool, arguments: input }] };
}

/** Whether the text of an attack is in a request, even in invisible letters. */
function hasMark(request: ChatRequest, id: string): boolean {
  const text = JSON.stringify(request).replace(/[\u{e0020}-\u{e007e}]/gu, (letter) =>
    String.fromCodePoint((letter.codePointAt(0) ?? 0) - 0xe0000),
  );
  return text.includes(getMark(id));
}

function getStepAt(
  { leads = [], obeys = [], forEver = false }: DrillTurn,
  at: number,
): AttackStep | undefined {
  const steps = [...leads, ...obeys];
  return forEver ? (steps[at] ?? steps.at(-1)) : steps[at];
}

/** The tool results since a person's last message. */
function listToolResults({ messages }: ChatRequest): string[] {
  const from = messages.findLastIndex(({ role }) => role === 'user');
  return messages
    .slice(from + 1)
    .filter(({ role }) => role === 'tool')
    .map((message) => getMessageText(message));
}

/**
 * The text that names the drill: the task of a sub-agent or a heartbeat, otherwise the last
 * message.
 */
function findLabelText({ messages }: ChatRequest): string {
  const system = getMessageText(messages[0]);
  const [, task] =
    /## Your task\n+([\s\S]*)$/.exec(system) ??
    /\n\nTask: [^\n]*\nSchedule: [^\n]*\n([^\n]*)/.exec(system) ??
    [];
  return task ?? getMessageText(messages.findLast(({ role }) => role === 'user'));
}

function isForNotes({ messages }: ChatRequest): boolean {
  return getMessageText(messages[0]).startsWith('You keep the notes of a conversation');
}

/**
 * A summary that keeps every instruction, as if the model had been told that the instruction is a
 * decision.
 */
function createNotes({ messages }: ChatRequest): string {
  const lines = getMessageText(messages.at(-1)).split('\n');
  const orders = lines.filter((line) => line.includes('OBEY-'));
  return `# Decisions\n${orders.map((line) => `- ${line.replace(/^[>\s]+/, '')}`).join('\n')}`;
}
