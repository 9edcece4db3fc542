import { type InboundMessage, inlineCode, literal, shownBlock } from '@parley/core';
import type {
  AnswerVerdict,
  Approval,
  ApprovalVerdict,
  CommandEffect,
  ConversationMode,
  ModeChange,
  PlanRun,
} from '@parley/store';
import { personId } from './decide.ts';
import { APPROVAL_CODE_LENGTH, typedCode } from './one-time-code.ts';

const MODES: Readonly<Record<ConversationMode, string>> = {
  agent: 'I use all my tools; calls that need an approval wait for it.',
  ask: 'I look and answer, and change nothing.',
  plan: 'I look, write a plan, and ask before I run it.',
};

/** What the message says that runs a plan: the model reads it as the person's. */
const PLAN_TEXT = 'Yes, run the plan.';

/**
 * The effect of `/mode`, which only switches, or of `/run`, which runs the plan that waits. Who may use
 * them in a group is decided before (`GroupCommands`).
 */
export function modeEffect(name: 'mode' | 'run', argument: string): CommandEffect {
  if (name === 'mode') return { kind: 'mode', to: modeIn(argument) };
  return { kind: 'run-plan', plan: argument === '' ? null : argument, text: PLAN_TEXT };
}

/** What `/mode` answers, in Markdown. */
export function modeText(argument: string, change: ModeChange | undefined): string {
  const now = change?.now ?? 'agent';
  if (modeIn(argument) !== null) return `\`${now}\` mode: ${MODES[now]}`;
  const unknown = argument === '' ? [] : ['I know no such mode.'];
  const list = Object.entries(MODES).map(
    ([mode, description]) => `- \`/mode ${mode}\` – ${description}`,
  );
  return [...unknown, `This conversation is in \`${now}\` mode.\n`, ...list].join('\n');
}

/** What `/run` answers, in Markdown. */
export function runText(argument: string, found: PlanRun | undefined): string {
  switch (found) {
    case 'runs':
      return 'I run the plan. From now on this conversation is in `agent` mode.';
    case 'was-run':
      return 'That plan has been run.';
    case 'none':
    case undefined:
      return argument === ''
        ? 'There is no plan to run.'
        : 'That plan can no longer be run: it has been, or something newer was said.';
  }
}

/** The effect of `/model`: without an argument, or with a name that is not known, it shows which one answers. */
export function modelEffect(argument: string, known: readonly string[]): CommandEffect {
  if (argument.toLowerCase() === DEFAULT_MODEL) return { kind: 'model', change: { to: null } };
  const to = modelNamed(argument, known);
  return { kind: 'model', change: to === undefined ? 'show' : { to } };
}

/** What `/model` answers, in Markdown; `model`: that of the settings, where only the owner reads it. */
export function modelText(
  argument: string,
  { models, model }: { readonly models: readonly string[]; readonly model: string | undefined },
  now: string | null,
): string {
  const usual = `the model of the settings${model === undefined ? '' : ` (${model})`}`;
  const answers = now === null ? usual : `\`${now}\``;
  const isChanged = argument.toLowerCase() === DEFAULT_MODEL || modelNamed(argument, models);
  if (isChanged) return `From the next message on ${answers} answers in this conversation.`;
  const unknown = argument === '' ? [] : [`I know no model ${inlineCode(argument)}.`];
  const list = [...models, DEFAULT_MODEL].map((name) => `- \`/model ${name}\``);
  const none = 'The settings name no other model: list some under `model.choices`.';
  return [
    ...unknown,
    `Here ${answers} answers.`,
    models.length === 0 ? none : list.join('\n'),
  ].join('\n\n');
}

const DEFAULT_MODEL = 'default';

/** A whole name, or the only one that contains what was typed. */
function modelNamed(argument: string, known: readonly string[]): string | undefined {
  if (argument === '') return undefined;
  const word = argument.toLowerCase();
  const whole = known.find((name) => name.toLowerCase() === word);
  const partly = known.filter((name) => name.toLowerCase().includes(word));
  return whole ?? (partly.length === 1 ? partly[0] : undefined);
}

function modeIn(argument: string): ConversationMode | null {
  const word = argument.toLowerCase();
  return word === 'agent' || word === 'ask' || word === 'plan' ? word : null;
}

/** The effect of `/approve` and `/deny`; without an argument it only asks what waits. */
export function approvalEffect(
  name: 'approve' | 'deny',
  argument: string,
  message: InboundMessage,
): CommandEffect {
  const code = argument === '' ? null : typedCode(argument, APPROVAL_CODE_LENGTH);
  if (argument !== '' && code === null) return { kind: 'none' };
  const verdict = name === 'approve' ? 'approved' : 'denied';
  return { kind: 'decide', code, verdict, by: personId(message) };
}

/**
 * What `/approve` and `/deny` answer, in Markdown. What waits is shown whole, as the question itself
 * showed it in this conversation.
 */
export function approvalText(verdict: ApprovalVerdict | undefined): string {
  switch (verdict?.kind) {
    case 'decided':
      return verdict.approval.state === 'approved'
        ? `Allowed: \`${verdict.approval.tool}\`.`
        : `Refused: \`${verdict.approval.tool}\`.`;
    case 'closed':
      return closedText(verdict.approval);
    case 'pending':
      return pendingText(verdict.approvals);
    case 'elsewhere':
      return 'I asked that in another chat. It can be read whole there, and is decided there.';
    case 'unknown':
    case undefined:
      return 'I have asked nothing with that code.';
  }
}

/** The effect of `/answer`: a code, and a number, `skip` or other text. */
export function answerEffect(argument: string, message: InboundMessage): CommandEffect {
  const [, typed = '', text = ''] = /^(\S+)\s+(.+)$/s.exec(argument) ?? [];
  const code = typedCode(typed, APPROVAL_CODE_LENGTH);
  if (code === null) return { kind: 'none' };
  return { kind: 'answer', code, by: personId(message), text };
}

/** What `/answer` answers, in Markdown. */
export function answerText(verdict: AnswerVerdict | undefined): string {
  switch (verdict?.kind) {
    case 'answered': {
      const { answer } = verdict.question;
      return answer === null ? 'Skipped.' : `Your answer: ${literal(answer)}`;
    }
    case 'closed':
      return 'I no longer wait for an answer to that: write it as a message.';
    case 'others':
      return 'I asked another person that.';
    case 'elsewhere':
      return 'I asked that in another chat: answer it there.';
    case 'unknown':
    case undefined:
      return 'I have asked nothing with that code. `/answer CODE 2` chooses the second answer, `/answer CODE skip` none.';
  }
}

function closedText({ state, tool }: Approval): string {
  switch (state) {
    case 'approved':
      return `That was decided already: \`${tool}\` was allowed.`;
    case 'denied':
      return `That was decided already: \`${tool}\` was refused.`;
    case 'withdrawn':
      return 'That is over: I was stopped before anyone decided.';
    case 'auto':
      return `That needed no decision: \`${tool}\` is allowed by the settings.`;
    case 'expired':
    // Questions are closed in other words.
    case 'answered':
    // Its time is up, but its state was not updated yet.
    case 'pending':
      return `Too late: without an answer I have left \`${tool}\`.`;
  }
}

/** Characters of calls that one list shows; the first is shown in any case. */
const MOST_LISTED = 24_000;

function pendingText(approvals: readonly Approval[]): string {
  if (approvals.length === 0) return 'Nothing waits for a decision in this conversation.';
  const questions: string[] = [];
  let length = 0;
  for (const { code, tool, shown } of approvals) {
    length += shown.length;
    if (length > MOST_LISTED && questions.length > 0) break;
    const decide = `\`/approve ${code}\` or \`/deny ${code}\``;
    questions.push(`\`${tool}\`: ${decide}\n${shownBlock(shown)}`);
  }
  const more = approvals.length - questions.length;
  // A code is shown only beside its call.
  const rest = more === 0 ? [] : [`${more} more wait; I show them once these are decided.`];
  return ['Waiting for a decision:', ...questions, ...rest].join('\n\n');
}
