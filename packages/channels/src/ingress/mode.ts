import type { CommandEffect, ConversationMode, ModeChange } from '@parley/store';

const MODES: Readonly<Record<ConversationMode, string>> = {
  agent: 'I use all my tools; what needs a yes waits for it.',
  ask: 'I look and answer, and change nothing.',
  plan: 'I look, write a plan, and ask before I run it.',
};

/** What the message says that runs a plan: the model reads it as the person's. */
const PLAN_WORDS = 'Yes, run the plan.';

/**
 * The effect of `/mode`. In a group only an owner lets me do more: whoever is there could else turn
 * off what an owner has set, and is not the one whose things are changed. Doing less is anybody's.
 */
export function modeEffect(
  argument: string,
  { isOwner, isDirect }: { readonly isOwner: boolean; readonly isDirect: boolean },
): CommandEffect {
  const mayWiden = isOwner || isDirect;
  return { kind: 'mode', to: modeIn(argument), mayWiden, planWords: PLAN_WORDS };
}

/** What `/mode` answers, in Markdown. */
export function modeText(argument: string, change: ModeChange | undefined): string {
  const now = change?.now ?? 'agent';
  if (change?.refused === true) {
    return `In a group only my owner can switch me to \`agent\`. Here I stay in \`${now}\` mode.`;
  }
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
