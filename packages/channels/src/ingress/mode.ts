import type { CommandEffect, ConversationMode, ModeChange, PlanRun } from '@parley/store';

const MODES: Readonly<Record<ConversationMode, string>> = {
  agent: 'I use all my tools; what needs a yes waits for it.',
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
  const list = Object.entries(MODES).map(([mode, words]) => `- \`/mode ${mode}\` – ${words}`);
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

function modeIn(argument: string): ConversationMode | null {
  const word = argument.toLowerCase();
  return word === 'agent' || word === 'ask' || word === 'plan' ? word : null;
}
