import { trimCopiedId } from '@parley/core';
import { z } from 'zod';
import {
  apiUrl,
  type GivenOptions,
  idForm,
  LISTED,
  matching,
  type Platform,
  userName,
  WHOAMI,
  words,
} from './platform.ts';

const person = idForm(
  {
    expected: 'a member id of Slack, such as U012AB3CD',
    howToFind: `In Slack: the person's profile, ⋮, Copy member ID. ${WHOAMI}`,
    explain: (written) =>
      /^@/.test(trimCopiedId(written))
        ? 'a @name can pass to somebody else, so it does not count'
        : undefined,
  },
  [
    /^([UW][A-Z0-9]{6,})$/,
    /^@([UW][A-Z0-9]{6,})(?:\|.*)?$/,
    /^https:\/\/[\w.-]+\.slack\.com\/team\/([UW][A-Z0-9]{6,})$/,
  ],
);

const group = idForm(
  {
    expected: 'a channel id of Slack, such as C012AB3CD',
    howToFind: `In Slack: the name of the channel, at the bottom of the tab About. ${LISTED}`,
    explain: (written) =>
      /^#/.test(trimCopiedId(written)) ? 'a #name can change, so it does not count' : undefined,
  },
  [
    /^([CG][A-Z0-9]{6,})$/,
    /^#([CG][A-Z0-9]{6,})(?:\|.*)?$/,
    /^https:\/\/[\w.-]+\.slack\.com\/archives\/([CG][A-Z0-9]{6,})(?:[/?]|$)/,
    /^https:\/\/app\.slack\.com\/client\/[A-Z0-9]+\/([CG][A-Z0-9]{6,})(?:[/?]|$)/,
  ],
);

const direct = idForm(
  {
    expected: 'the id of a direct chat with the bot in Slack, such as D012AB3CD',
    howToFind: 'It is at the end of the address of that chat in a browser',
  },
  [/^(D[A-Z0-9]{6,})$/, /\/(D[A-Z0-9]{6,})(?:[/?]|$)/],
);

const thread = idForm(
  {
    expected: 'the timestamp of the first message of a thread, such as 1700000000.123456',
    howToFind:
      'It is the number after p in the link of that message, with a full stop before the last six digits',
  },
  [/^(\d{10}\.\d{6})$/],
);

/** Slack, with one workspace per account. */
export const slack: Platform = {
  use: '@chat-adapter/slack',
  version: '4.41.1',
  name: 'Slack',
  channel: 'slack',
  page: 'channel-slack.md',
  ids: { person, group, direct, role: null, thread },
  options: {
    botToken: {
      variable: 'SLACK_BOT_TOKEN',
      schema: matching(
        'Bot token',
        'From the page OAuth & Permissions of your app, after you installed it.',
        /^xoxb-\S+$/,
        'a bot token, which begins with xoxb-',
      ),
    },
    appToken: {
      variable: 'SLACK_APP_TOKEN',
      schema: matching(
        'App-level token',
        'For socket mode: from the page Basic Information of your app, with the scope connections:write.',
        /^xapp-\S+$/,
        'an app-level token, which begins with xapp-',
      ),
    },
    signingSecret: {
      variable: 'SLACK_SIGNING_SECRET',
      schema: words(
        'Signing secret',
        'For a webhook: from the page Basic Information of your app.',
        'the signing secret of your app',
      ),
    },
    mode: {
      schema: z
        .enum(['webhook', 'socket'])
        .optional()
        .describe(
          'webhook: Slack calls this gateway. socket: this gateway connects to Slack and needs no public address. If not set, socket where there is an app-level token and no signing secret.',
        )
        .meta({ title: 'How messages arrive' }),
    },
    agentView: {
      schema: z
        .boolean()
        .optional()
        .describe(
          'Whether the manifest of your app has agent_view: each message of a person then begins a thread.',
        )
        .meta({ title: 'Agent view' }),
    },
    userName: userName('Replaced by the name of the app, once Slack has told it.'),
    botUserId: {
      schema: words('User id of the bot', 'Slack is asked for it, if it is not set.'),
    },
    apiUrl: {
      variable: 'SLACK_API_URL',
      schema: apiUrl('Address of the Web API, for GovSlack: https://slack-gov.com/api/.'),
    },
  },
  needs: (given) => [
    [['botToken']],
    SECRETS_OF[given.mode === undefined ? 'either' : modeOf(given)],
  ],
  complete: (given) => ({ ...given, mode: modeOf(given) }),
  left: {
    SLACK_CLIENT_ID: 'one account is one workspace',
    SLACK_CLIENT_SECRET: 'one account is one workspace',
    SLACK_ENCRYPTION_KEY: 'no tokens of workspaces are stored',
    SLACK_SOCKET_FORWARDING_SECRET: 'the host forwards events inside its process',
  },
  asks: ['botToken', 'appToken', 'signingSecret'],
  setUp:
    'Open api.slack.com/apps, press Create New App, From a manifest, and paste the manifest of docs/channel-slack.md. Install the app to your workspace. With an app-level token it needs no public address; with a signing secret Slack calls this gateway.',
  notDurable: [
    'Messages that only one person sees are not used: Slack neither stores them nor lets them be found again.',
    'Modals are not used, because the ticket that opens one expires after three seconds.',
    'The status line that shows that the agent is working disappears when Parley stops.',
    'A file is uploaded and then shared; if Parley is killed between the two, the file is sent again.',
    'Slack repeats an event that was not accepted three times within about six minutes, and hourly for a day if Delayed Events is turned on for the app; in socket mode it keeps no event while no connection is open.',
  ],
  isCalled: (given) => modeOf(given) === 'webhook',
};

const SECRETS_OF = {
  socket: [['appToken']],
  webhook: [['signingSecret']],
  either: [['appToken'], ['signingSecret']],
};

/** How messages arrive if the settings do not choose a mode: the secrets decide. */
function modeOf({ mode, appToken, signingSecret }: GivenOptions): 'webhook' | 'socket' {
  if (mode === 'webhook' || mode === 'socket') return mode;
  return appToken !== undefined && signingSecret === undefined ? 'socket' : 'webhook';
}
