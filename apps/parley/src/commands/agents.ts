import { type DecisionRules, resolveAgent } from '@parley/channels';
import type { InboundMessage } from '@parley/core';
import type { AgentSummary } from '@parley/gateway';
import { CHANNEL_DEFINITIONS } from '@parley/gateway/channel-definitions';
import { listOwners, planAccounts } from '../access.ts';
import { type CliContext, formatJson } from '../cli.ts';
import { CliError, UsageError } from '../data-folder.ts';
import { operateAndPrint } from '../operate.ts';
import { readSettings } from '../settings.ts';
import { stripControlCharacters } from '../terminal/text.ts';

/** `parley agents` (F14): lists all agents and the chats that each answers. */
export function listAgents(cli: CliContext): Promise<number> {
  return operateAndPrint(cli, 'agents/list', {}, ({ agents }) =>
    agents.map(formatAgent).join('\n\n'),
  );
}

function formatAgent(agent: AgentSummary): string {
  const { name, title, emoji, isDefault, model, profile, workspace, owners = [], routes } = agent;
  const shown = [title, emoji].filter((part) => part !== null).join(' ');
  const lines = [
    `${name}${isDefault ? ' (default)' : ''}`,
    `  name       ${shown}`,
    `  model      ${model}`,
    ...(profile === null ? [] : [`  profile    ${profile}`]),
    `  workspace  ${workspace ?? '-'}`,
    `  owners     ${owners.join(', ')}`,
    `  answers    ${routes.length === 0 ? 'none: no rule routes to this agent' : routes.join('; ')}`,
  ];
  return lines.map(stripControlCharacters).join('\n');
}

interface RouteQuery {
  readonly person?: string;
  readonly account: string;
}

/**
 * `parley agents CHANNEL:CHAT`: shows which agent answers in the chat, and which rule decides this.
 * The exit code is 1 when no agent can answer.
 */
export async function showAnsweringAgent(
  cli: CliContext,
  chat: string,
  asked: RouteQuery,
): Promise<number> {
  const place = parseQueriedChat(chat, asked);
  const loaded = readSettings(cli.folder, cli.env);
  const { settings } = loaded;
  const accounts = planAccounts(loaded, listOwners(settings), CHANNEL_DEFINITIONS);
  const rules = findAccountRules(place, accounts);
  const { agent, why, unknown } = resolveAgent(place, rules);
  if (unknown) {
    cli.print(
      `No agent answers: the chat ${stripControlCharacters(chat)} is routed to an agent that does not exist.`,
    );
    return 1;
  }
  const name = agent ?? settings.agent.id;
  const answer = { agent: name, why: why ?? `answered by ${name} (the only agent)` };
  cli.print(cli.json ? formatJson(answer) : answer.why);
  return 0;
}

type QueriedChat = Pick<InboundMessage, 'channel' | 'account' | 'chat' | 'sender'>;

function parseQueriedChat(chat: string, { person = '', account }: RouteQuery): QueriedChat {
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
function findAccountRules(
  { channel, account }: QueriedChat,
  accounts: ReturnType<typeof planAccounts>,
): DecisionRules {
  for (const one of accounts) {
    if (one.kind !== 'ready') continue;
    if (one.plan.definition.id === channel && one.plan.account === account) return one.plan.rules;
  }
  throw new CliError(
    'no-account',
    `The settings do not contain a working account ${channel}/${account}. "parley channels" lists the accounts.`,
  );
}
