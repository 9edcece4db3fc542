import type { ChannelsReport, ShownAccount } from '@parley/gateway/api';
import { type Api, withApi } from '../api.ts';
import { channelLine, printLinks } from '../banner.ts';
import { type Cli, type Json, jsonText } from '../cli.ts';
import { commandLine } from '../data-folder.ts';
import { minuteText, tableText } from '../terminal/text.ts';

/** `parley channels`: each account, who waits to be allowed, which groups were seen. */
export function listChannels(cli: Cli, { json }: Json): Promise<number> {
  return onChannels(cli, async ({ ask }) => {
    const report = await ask<ChannelsReport>('');
    cli.print(json === true ? jsonText(report) : reportText(report, cli));
    if (json !== true) await printLinks(cli, report.accounts);
    return 0;
  });
}

/** `parley channels pause|resume|reconnect ACCOUNT`. */
export function changeChannel(
  cli: Cli,
  action: 'pause' | 'resume' | 'reconnect',
  name: string,
): Promise<number> {
  return onChannels(cli, async ({ ask }) => {
    const account = await ask<ShownAccount>(pathOf(name, action), { method: 'POST' });
    cli.print(`${account.channel}/${account.account}: ${channelLine(account)}`);
    return 0;
  });
}

/** `parley channels test ACCOUNT`: a message to the owner's chat. */
export function testChannel(cli: Cli, name: string): Promise<number> {
  return onChannels(cli, async ({ ask }) => {
    const { text } = await ask<{ readonly text: string }>(pathOf(name, 'test'), { method: 'POST' });
    cli.print(text);
    return 0;
  });
}

/** `parley channels allow ACCOUNT GROUP`: writes the group into the settings. */
export function allowGroup(cli: Cli, name: string, chatId: string): Promise<number> {
  return onChannels(cli, async ({ ask }) => {
    const body = { chatId };
    cli.print((await ask<{ readonly text: string }>(pathOf(name, 'groups'), { body })).text);
    return 0;
  });
}

function onChannels(cli: Cli, work: (api: Api) => Promise<number>): Promise<number> {
  return withApi(cli, '/api/channels', work);
}

/** `telegram` is `telegram/default`. */
function pathOf(name: string, action: string): string {
  const [channel = '', account = 'default'] = name.split('/');
  return `/${encodeURIComponent(channel)}/${encodeURIComponent(account)}/${action}`;
}

function reportText({ accounts, waiting, groups }: ChannelsReport, { folder }: Cli): string {
  const sections = [
    tableText(accounts.map(accountRow)),
    ...(waiting.length === 0
      ? []
      : [
          `Waiting to be allowed (${commandLine('pair CODE', folder)}):`,
          tableText(
            waiting.map(({ code, channel, account, senderId, senderName, expiresAt }) => [
              `  ${code}`,
              senderName,
              `${channel}:${senderId}`,
              `on ${channel}/${account}, until ${minuteText(expiresAt)} UTC`,
            ]),
          ),
        ]),
    ...(groups.length === 0
      ? []
      : [
          `Groups that are not allowed (${commandLine('channels allow ACCOUNT GROUP', folder)}):`,
          tableText(
            groups.map(({ channel, account, chatId, title, seenAt }) => [
              `  ${chatId}`,
              title ?? 'no title',
              `on ${channel}/${account}, last seen ${minuteText(seenAt)} UTC`,
            ]),
          ),
        ]),
  ];
  return sections.join('\n');
}

function accountRow(shown: ShownAccount): string[] {
  const { access } = shown;
  const rules = access === undefined ? '' : `direct: ${access.direct}, groups: ${access.groups}`;
  return [`${shown.channel}/${shown.account}`, rules, channelLine(shown)];
}
