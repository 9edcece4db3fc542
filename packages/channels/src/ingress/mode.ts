import type { CommandEffect, ConversationMode, ModeChange } from '@parley/store';

const MODES: Readonly<Record<ConversationMode, string>> = {
  agent: 'I use all my tools; what needs a yes waits for it.',
  ask: 'I look and answer, and change nothing.',
  plan: 'I look, write a plan, and ask before I run it.',
};

/** What the message says that runs a plan: the model reads it as the person's. */
const PLAN_WORDS = 'Yes, run the plan.';

/** The effect of `/mode`; who may use it in a group is decided before (`GroupCommands`). */
export function modeEffect(argument: string): CommandEffect {
  return { kind: 'mode', to: modeIn(argument), planWords: PLAN_WORDS };
}

/** What `/mode` answers, in Markdown. */
export function modeText(argument: string, change: ModeChange | undefined): string {
  const now = change?.now ?? 'agent';
  if (change?.runsPlan === true) return 'Agent mode. I run the plan.';
  if (modeIn(argument) !== null) return `\`${now}\` mode: ${MODES[now]}`;
  const unknown = argument === '' ? [] : ['I know no such mode.'];
  const list = Object.entries(MODES).map(([mode, words]) => `- \`/mode ${mode}\` – ${words}`);
  return [...unknown, `This conversation is in \`${now}\` mode.\n`, ...list].join('\n');
}

function modeIn(argument: string): ConversationMode | null {
  const word = argument.toLowerCase();
  return word === 'agent' || word === 'ask' || word === 'plan' ? word : null;
}
