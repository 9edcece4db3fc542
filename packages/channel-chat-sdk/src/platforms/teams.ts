import { type IdForm, trimCopiedId } from '@parley/core';
import { z } from 'zod';
import {
  apiUrlSchema,
  createIdForm,
  createUserNameOption,
  GUID,
  LISTED,
  type Platform,
  patternSchema,
  textSchema,
  WHOAMI,
} from './platform.ts';

const person = createIdForm(
  {
    expected: 'a Teams user id for this bot, such as 29:1AbC…',
    howToFind: WHOAMI,
    explain(written) {
      if (GUID.test(trimCopiedId(written)))
        return 'this is an Entra id, but Teams gives each person a different id for each bot';
      return /@/.test(written)
        ? 'an email address can be transferred to another person, so it is not accepted'
        : undefined;
    },
  },
  [/^(29:[\w-]{20,})$/],
);

const CONVERSATION =
  /^(19:[\w-]+@(?:thread\.(?:tacv2|v2|skype)|unq\.gbl\.spaces))(?:;messageid=\d+)?$/;

const group: IdForm = {
  expected: 'the id of a Teams channel or group chat, such as 19:abc…@thread.tacv2',
  howToFind: `The id is in the channel's link (⋯, Copy link), after /channel/. ${LISTED}`,
  normalize(written) {
    const bare = trimCopiedId(written);
    const linked =
      /^https:\/\/teams\.(?:microsoft\.com|live\.com)\/l\/(?:channel|chat|message)\/([^/?]+)/.exec(
        bare,
      )?.[1];
    return CONVERSATION.exec(linked === undefined ? bare : decodeUrl(linked))?.[1] ?? null;
  },
};

function decodeUrl(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const direct = createIdForm(
  {
    expected: 'the id of a direct Teams chat with the bot, such as a:1AbC…',
    howToFind: '/whoami in that chat shows the id',
  },
  [/^(a:[\w-]{20,})$/, CONVERSATION],
);

const thread = createIdForm(
  {
    expected: 'the number of the first message of a thread, such as 1700000000000',
    howToFind: 'The number follows /message/ID/ in the link of that message',
  },
  [/^(\d{13})$/],
);

/** Microsoft Teams, through an Azure bot. */
export const teams: Platform = {
  use: '@chat-adapter/teams',
  version: '4.41.0',
  name: 'Microsoft Teams',
  channel: 'teams',
  page: 'channel-teams.md',
  ids: { person, group, direct, role: null, thread },
  options: {
    appId: {
      variable: 'TEAMS_APP_ID',
      schema: patternSchema(
        'App id',
        'The Microsoft App ID of the Azure Bot, also called the client id.',
        GUID,
        'an app id such as 01234567-89ab-cdef-0123-456789abcdef',
      ),
    },
    appPassword: {
      variable: 'TEAMS_APP_PASSWORD',
      schema: textSchema(
        'Client secret',
        "The value of the app registration's client secret, not its id.",
        'the value of a client secret',
      ),
    },
    appTenantId: {
      variable: 'TEAMS_APP_TENANT_ID',
      schema: patternSchema(
        'Tenant id',
        'The directory (tenant) id of the app registration. Single-tenant bots, the only kind that Azure still creates, require it.',
        GUID,
        'a tenant id such as 01234567-89ab-cdef-0123-456789abcdef',
      ),
    },
    appType: {
      schema: z
        .enum(['SingleTenant', 'MultiTenant'])
        .optional()
        .describe('The type of the Azure Bot. MultiTenant is only for older bots.')
        .meta({ title: 'Bot type' }),
    },
    federated: {
      schema: z
        .strictObject({
          clientId: z
            .string()
            .regex(GUID, 'the client id of a managed identity')
            .describe('The client id of the managed identity.')
            .meta({ title: 'Client id' }),
        })
        .optional()
        .describe('An Azure managed identity instead of a client secret.')
        .meta({ title: 'Managed identity' }),
    },
    userName: createUserNameOption('The name that people mention.'),
    apiUrl: {
      variable: 'TEAMS_API_URL',
      schema: apiUrlSchema('URL of the Bot Connector, for government clouds.'),
    },
  },
  needs: [
    [
      ['appId', 'appPassword'],
      ['appId', 'federated'],
    ],
  ],
  left: {},
  asks: ['appId', 'appPassword', 'appTenantId'],
  setUp:
    "Create an Azure Bot at portal.azure.com. Create a client secret for its app registration, turn on its Teams channel, and enter this gateway's URL as the messaging endpoint. Then install the app package from docs/channel-teams.md in Teams.",
  notDurable: [
    'Teams may not repeat a message that this gateway could not accept, so after downtime people may have to write again.',
    'In a channel, Teams delivers only messages that mention the bot, unless the app has the permission ChannelMessage.Read.Group.',
    'The typing indicator disappears by itself.',
    'Task modules (forms) are not used, because the call that opens one must be answered immediately.',
    'Reading earlier messages and checking uncertain answers requires Microsoft Graph permissions. Without them, an uncertain answer is only reported.',
  ],
  isCalled: () => true,
};
