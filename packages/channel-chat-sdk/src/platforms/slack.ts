import { trimCopiedId } from '@parley/core';
import { z } from 'zod';
import {
  type AccountOptions,
  apiUrlSchema,
  createIdForm,
  createUserNameOption,
  LISTED,
  type Platform,
  patternSchema,
  textSchema,
  WHOAMI,
} from './platform.ts';

const person = createIdForm(
  {
    expected: 'a Slack member id, such as U012AB3CD',
    howToFind: `In Slack: open the person's profile, ⋮, Copy member ID. ${WHOAMI}`,
    explain: (written) =>
      /^@/.test(trimCopiedId(written))
        ? 'a @name can be transferred to somebody else, so it is not accepted'
        : undefined,
  },
  [
    /^([UW][A-Z0-9]{6,})$/,
    /^@([UW][A-Z0-9]{6,})(?:\|.*)?$/,
    /^https:\/\/[\w.-]+\.slack\.com\/team\/([UW][A-Z0-9]{6,})$/,
  ],
);

const group = createIdForm(
  {
    expected: 'a Slack channel id, such as C012AB3CD',
    howToFind: `In Slack: click the channel's name; the id is at the bottom of the About tab. ${LISTED}`,
    explain: (written) =>
      /^#/.test(trimCopiedId(written)) ? 'a #name can change, so it is not accepted' : undefined,
  },
  [
    /^([CG][A-Z0-9]{6,})$/,
    /^#([CG][A-Z0-9]{6,})(?:\|.*)?$/,
    /^https:\/\/[\w.-]+\.slack\.com\/archives\/([CG][A-Z0-9]{6,})(?:[/?]|$)/,
    /^https:\/\/app\.slack\.com\/client\/[A-Z0-9]+\/([CG][A-Z0-9]{6,})(?:[/?]|$)/,
  ],
);

const direct = createIdForm(
  {
    expected: 'the id of a direct Slack chat with the bot, such as D012AB3CD',
    howToFind: "The id is at the end of the chat's URL in a browser",
  },
  [/^(D[A-Z0-9]{6,})$/, /\/(D[A-Z0-9]{6,})(?:[/?]|$)/],
);

const thread = createIdForm(
  {
    expected: 'the timestamp of the first message of a thread, such as 1700000000.123456',
    howToFind:
      "The timestamp is the number after p in the message's link, with a period before the last six digits",
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
      schema: patternSchema(
        'Bot token',
        'From the page OAuth & Permissions of your app, after you have installed the app.',
        /^xoxb-\S+$/,
        'a bot token, which begins with xoxb-',
      ),
    },
    appToken: {
      variable: 'SLACK_APP_TOKEN',
      schema: patternSchema(
        'App-level token',
        'For socket mode: from the page Basic Information of your app, with the scope connections:write.',
        /^xapp-\S+$/,
        'an app-level token, which begins with xapp-',
      ),
    },
    signingSecret: {
      variable: 'SLACK_SIGNING_SECRET',
      schema: textSchema(
        'Signing secret',
        'For a webhook: from the page Basic Information of your app.',
        "your app's signing secret",
      ),
    },
    mode: {
      schema: z
        .enum(['webhook', 'socket'])
        .optional()
        .describe(
          'webhook: Slack calls this gateway. socket: this gateway connects to Slack and does not need a public URL. If not set, socket is used if there is an app-level token and no signing secret.',
        )
        .meta({ title: 'How messages arrive' }),
    },
    agentView: {
      schema: z
        .boolean()
        .optional()
        .describe(
          "Whether your app's manifest contains agent_view, in which case each message from a person starts a thread.",
        )
        .meta({ title: 'Agent view' }),
    },
    userName: createUserNameOption("Replaced by the app's name as soon as Slack returns the name."),
    botUserId: {
      schema: textSchema('User id of the bot', 'If not set, it is requested from Slack.'),
    },
    apiUrl: {
      variable: 'SLACK_API_URL',
      schema: apiUrlSchema('URL of the Web API, for GovSlack: https://slack-gov.com/api/.'),
    },
  },
  needs: (given) => [
    [['botToken']],
    SECRETS_OF[given.mode === undefined ? 'either' : selectConnectionMode(given)],
  ],
  complete: (given) => ({ ...given, mode: selectConnectionMode(given) }),
  left: {
    SLACK_CLIENT_ID: 'each account has only one workspace',
    SLACK_CLIENT_SECRET: 'each account has only one workspace',
    SLACK_ENCRYPTION_KEY: 'Parley does not store workspace tokens',
    SLACK_SOCKET_FORWARDING_SECRET: 'Parley forwards events within its own process',
  },
  asks: ['botToken', 'appToken', 'signingSecret'],
  setUp:
    'Open api.slack.com/apps, click Create New App, From a manifest, and paste the manifest from docs/channel-slack.md. Install the app in your workspace. With an app-level token, no public URL is needed; with a signing secret, Slack calls this gateway.',
  notDurable: [
    'Ephemeral messages are not used, because Slack does not store them and an app cannot find them again.',
    'Modals are not used, because the trigger for opening one expires after three seconds.',
    'The status that shows that the agent is working disappears when Parley stops.',
    'A file is first uploaded and then shared. If Parley is killed between these two steps, it sends the file again.',
    'If Parley is killed while it sends a message, and the channel does not show the message ten seconds later, Parley sends it again. If the network delivers the first message even later, people see it twice.',
    'Slack repeats a failed event three times within about six minutes, and hourly for a day if Delayed Events is turned on for the app. In socket mode, Slack does not keep events while no connection is open.',
  ],
  isCalled: (given) => selectConnectionMode(given) === 'webhook',
};

const SECRETS_OF = {
  socket: [['appToken']],
  webhook: [['signingSecret']],
  either: [['appToken'], ['signingSecret']],
};

/** How messages arrive if the settings do not choose a mode; this depends on the secrets. */
function selectConnectionMode({
  mode,
  appToken,
  signingSecret,
}: AccountOptions): 'webhook' | 'socket' {
  if (mode === 'webhook' || mode === 'socket') return mode;
  return appToken !== undefined && signingSecret === undefined ? 'socket' : 'webhook';
}
