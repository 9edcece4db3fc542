import { type DecisionRules, resolveAgent } from '@parley/channels';
import type { InboundMessage } from '@parley/core';
import type { ShownAgent } from '@parley/gateway';
import { CHANNEL_DEFINITIONS } from '@parley/gateway/channel-definitions';
import { ownersOf, planAccounts } from '../access.ts';
import { type Cli, jsonText } from '../cli.ts';
import { CliError, UsageError } from '../data-folder.ts';
import { operate } from '../operate.ts';
import { readSettings } from '../settings.ts';
import { visible } from '../terminal/text.ts';

/** `parley agents` (F14): lists all agents and the chats that each answers. */
export function listAgents(cli: Cli): Promise<number> {
  return operate(cli, 'agents/list', {}, ({ agents }) => agents.map(agentText).join('\n\n'));
}

function agentText(agent: ShownAgent): string {
  const { name, title, emoji, isDefault, model, profile, workspace, owners = [], routes } = agent;
  const shown = [title, emoji].filter((part) => part !== null).join(' ');
  const lines = [
    `${name}${isDefault ? ' (default)' : ''}`,
    `  name       ${shown}`,
    `  model      ${model}`,
    ...(profile === null ? [] : [`  profile    ${profile}`]),
    `  workspace  ${workspace ?? '-'}`,
    `  owners     ${owners.join(', ')}`,
    `  answers    ${routes.length === 0 ? 'nothing: no rule routes to it' : routes.join('; ')}`,
  ];
  return lines.map(visible).join('\n');
}

interface RouteQuestion {
  readonly person?: string;
  readonly account: string;
}

/**
 * `parley agents CHANNEL:CHAT`: shows which agent answers there and by which rule. Exit code 1 when
 * none can.
 */
export async function whoAnswers(cli: Cli, chat: string, asked: RouteQuestion): Promise<number> {
  const place = readAskedChat(chat, asked);
  const loaded = readSettings(cli.folder, cli.env);
  const { settings } = loaded;
  const accounts = planAccounts(loaded, ownersOf(settings), CHANNEL_DEFINITIONS);
  const rules = rulesAt(place, accounts);
  const { agent, why, unknown } = resolveAgent(place, rules);
  if (unknown) {
    cli.print(
      `Nobody answers: the chat ${visible(chat)} is routed to an agent that does not exist.`,
    );
    return 1;
  }
  const name = agent ?? settings.agent.id;
  const answer = { agent: name, why: why ?? `answered by ${name} (there is one agent)` };
  cli.print(cli.json ? jsonText(answer) : answer.why);
  return 0;
}

type Place = Pick<InboundMessage, 'channel' | 'account' | 'chat' | 'sender'>;

function readAskedChat(chat: string, { person = '', account }: RouteQuestion): Place {
  const [, channel, id] = /^([a-z][a-z0-9-]*):(\S+)$/.exec(chat) ?? [];
  if (channel === undefined || id === undefined) {
    throw new UsageError(
      `A chat is channel:chatId, such as telegram:-1001234567890, not "${chat}".`,
    );
  }
  const sender = { id: person.replace(`${channel}:`, ''), name: '', isBot: false };
  return { channel, account, chat: { id, type: 'group' }, sender };
}

/** Throws CliError for an account that is not in the settings. */
function rulesAt(
  { channel, account }: Place,
  accounts: ReturnType<typeof planAccounts>,
): DecisionRules {
  for (const one of accounts) {
    if (one.kind !== 'ready') continue;
    if (one.plan.definition.id === channel && one.plan.account === account) return one.plan.rules;
  }
  throw new CliError(
    'no-account',
    `The settings have no working account ${channel}/${account}. "parley channels" lists the accounts.`,
  );
}
