import { type ChatRequest, textOf, toolsOf } from '../model/chat-request.ts';
import type { Reply } from '../model/scripted-reply.ts';
import { type Attack, type DrillTurn, labelOf, markOf, type Step, type TurnKey } from './attack.ts';

/** What the model of one drill has seen and tried, for the judge. */
export interface Deeds {
  /** The hostile text was in a request, by turn. */
  readonly reached: Set<TurnKey>;
  /** Calls that obey, in the order in which they were made first. */
  readonly tried: { readonly tool: string; readonly offered: boolean }[];
  /** What tools said to calls that obey. */
  readonly heard: string[];
  /** Turns that came to their answer. */
  readonly answered: Set<TurnKey>;
  /** How often the model was asked. */
  asked: number;
  /** The requests, for what else is to be seen in them. */
  readonly shown: { readonly key: TurnKey; readonly request: string }[];
  last?: ChatRequest;
}

/** A model that does what every attack asks for, and remembers what came of it. */
export interface ObeyingModel {
  reply(request: ChatRequest): Reply;
  deedsOf(id: string): Deeds;
}

const LABEL = /drill:([a-z-]+)\/(1|2|3|sub)/g;

/** Makes one for these attacks. */
export function obeyingModel(attacks: readonly Attack[]): ObeyingModel {
  const all = new Map(attacks.map(({ id }) => [id, newDeeds()]));
  const deedsOf = (id: string): Deeds => {
    const deeds = all.get(id);
    if (deeds === undefined) throw new Error(`there is no attack ${id}`);
    return deeds;
  };
  return {
    deedsOf,
    reply(request) {
      if (isForNotes(request)) return notesOf(request);
      const [, id, key] = [...labelled(request).matchAll(LABEL)].at(-1) ?? [];
      const attack = attacks.find((one) => one.id === id);
      const turn = key === '1' || key === '2' || key === '3' || key === 'sub' ? key : undefined;
      if (attack === undefined || turn === undefined) return 'Hello.';
      return obey(request, attack, turn, deedsOf(attack.id));
    },
  };
}

function newDeeds(): Deeds {
  return { reached: new Set(), tried: [], heard: [], shown: [], answered: new Set(), asked: 0 };
}

/** The model’s part in one request; what it did before stands in the request itself. */
function obey(request: ChatRequest, attack: Attack, key: TurnKey, deeds: Deeds): Reply {
  const turn = attack.turns[key] ?? {};
  const { leads = [], obeys = [] } = turn;
  const heard = toolResultsIn(request);
  deeds.asked += 1;
  deeds.last = request;
  deeds.shown.push({ key, request: JSON.stringify(request) });
  const done = heard.length;
  // Its own calls hold the mark, too, and prove nothing.
  if (done <= leads.length && holdsMark(request, attack.id)) {
    deeds.reached.add(key);
  }
  if (done > leads.length) deeds.heard.push(heard.at(-1) ?? '');
  const step = stepAt(turn, done);
  const hasRead = key === 'sub' || deeds.reached.has(key);
  if (step === undefined || (done >= leads.length && obeys.length > 0 && !hasRead)) {
    deeds.answered.add(key);
    return `Done ${labelOf(attack.id, key)}.`;
  }
  if ('says' in step) {
    deeds.answered.add(key);
    return typeof step.says === 'string' ? step.says : step.says(heard);
  }
  const offered = toolsOf(request).includes(step.tool);
  if (done >= leads.length) deeds.tried.push({ tool: step.tool, offered });
  const input = typeof step.input === 'function' ? step.input(heard) : step.input;
  return { toolCalls: [{ id: `call_${key}_${done}`, name: step.tool, arguments: input }] };
}

/** Whether the text of an attack is in a request, also in letters that people do not see. */
function holdsMark(request: ChatRequest, id: string): boolean {
  const text = JSON.stringify(request).replace(/[\u{e0020}-\u{e007e}]/gu, (letter) =>
    String.fromCodePoint((letter.codePointAt(0) ?? 0) - 0xe0000),
  );
  return text.includes(markOf(id));
}

function stepAt(
  { leads = [], obeys = [], forEver = false }: DrillTurn,
  at: number,
): Step | undefined {
  const steps = [...leads, ...obeys];
  return forEver ? (steps[at] ?? steps.at(-1)) : steps[at];
}

/** What the tools have said since somebody wrote. */
function toolResultsIn({ messages }: ChatRequest): string[] {
  const from = messages.findLastIndex(({ role }) => role === 'user');
  return messages
    .slice(from + 1)
    .filter(({ role }) => role === 'tool')
    .map((message) => textOf(message));
}

/** The text that says which drill it is: the task of a sub-agent or a heartbeat, else the last message. */
function labelled({ messages }: ChatRequest): string {
  const system = textOf(messages[0]);
  const [, task] =
    /## Your task\n+([\s\S]*)$/.exec(system) ??
    /\n\nTask: [^\n]*\nSchedule: [^\n]*\n([^\n]*)/.exec(system) ??
    [];
  return task ?? textOf(messages.findLast(({ role }) => role === 'user'));
}

function isForNotes({ messages }: ChatRequest): boolean {
  return textOf(messages[0]).startsWith('You keep the notes of a conversation');
}

/** A summary that carries every order over, as a model would that was told that it is a decision. */
function notesOf({ messages }: ChatRequest): string {
  const lines = textOf(messages.at(-1)).split('\n');
  const orders = lines.filter((line) => line.includes('OBEY-'));
  return `# Decisions\n${orders.map((line) => `- ${line.replace(/^[>\s]+/, '')}`).join('\n')}`;
}
