import { type IdForm, trimCopiedId } from '@parley/core';
import { z } from 'zod';
import {
  apiUrl,
  GUID,
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
    expected: 'a user id of Teams for this bot, such as 29:1AbC…',
    howToFind: WHOAMI,
    explain(written) {
      if (GUID.test(trimCopiedId(written)))
        return 'this is an id of Entra; Teams gives each bot an id of its own for a person';
      return /@/.test(written)
        ? 'an address can pass to somebody else, so it does not count'
        : undefined;
    },
  },
  [/^(29:[\w-]{20,})$/],
);

const CONVERSATION =
  /^(19:[\w-]+@(?:thread\.(?:tacv2|v2|skype)|unq\.gbl\.spaces))(?:;messageid=\d+)?$/;

const group: IdForm = {
  expected: 'the id of a channel or group chat of Teams, such as 19:abc…@thread.tacv2',
  howToFind: `It is in the link of the channel (⋯, Copy link), after /channel/. ${LISTED}`,
  normalize(written) {
    const bare = trimCopiedId(written);
    const linked =
      /^https:\/\/teams\.(?:microsoft\.com|live\.com)\/l\/(?:channel|chat|message)\/([^/?]+)/.exec(
        bare,
      )?.[1];
    return CONVERSATION.exec(linked === undefined ? bare : decode(linked))?.[1] ?? null;
  },
};

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const direct = idForm(
  {
    expected: 'the id of a direct chat with the bot in Teams, such as a:1AbC…',
    howToFind: '/whoami in that chat shows it',
  },
  [/^(a:[\w-]{20,})$/, CONVERSATION],
);

const thread = idForm(
  {
    expected: 'the number of the first message of a thread, such as 1700000000000',
    howToFind: 'It is the number after /message/ID/ in the link of that message',
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
      schema: matching(
        'App id',
        'The Microsoft App ID of the Azure Bot, also called client id.',
        GUID,
        'an app id such as 01234567-89ab-cdef-0123-456789abcdef',
      ),
    },
    appPassword: {
      variable: 'TEAMS_APP_PASSWORD',
      schema: words(
        'Client secret',
        'The value of a client secret of the app registration, not its id.',
        'the value of a client secret',
      ),
    },
    appTenantId: {
      variable: 'TEAMS_APP_TENANT_ID',
      schema: matching(
        'Tenant id',
        'The directory (tenant) id of the app registration. A bot of a single tenant, the only kind that Azure still creates, needs it.',
        GUID,
        'a tenant id such as 01234567-89ab-cdef-0123-456789abcdef',
      ),
    },
    appType: {
      schema: z
        .enum(['SingleTenant', 'MultiTenant'])
        .optional()
        .describe('The type of the Azure Bot. MultiTenant is for older bots only.')
        .meta({ title: 'Type of the bot' }),
    },
    federated: {
      schema: z
        .strictObject({
          clientId: z
            .string()
            .regex(GUID, 'the client id of a managed identity')
            .describe('Client id of the managed identity.')
            .meta({ title: 'Client id' }),
        })
        .optional()
        .describe('A managed identity of Azure in place of a client secret.')
        .meta({ title: 'Managed identity' }),
    },
    userName: userName('The name by which people mention it.'),
    apiUrl: {
      variable: 'TEAMS_API_URL',
      schema: apiUrl('Address of the Bot Connector, for clouds of governments.'),
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
    'Create an Azure Bot at portal.azure.com, make a client secret for its app registration, turn on its Teams channel, and enter the address of this gateway as its messaging endpoint. Then install the app package of docs/channel-teams.md in Teams.',
  notDurable: [
    'Teams does not promise to repeat a message that this gateway could not accept: after a downtime, people may have to write again.',
    'In a channel Teams delivers only messages that mention the bot, unless the app has the permission ChannelMessage.Read.Group.',
    'The typing indicator disappears by itself.',
    'Task modules (forms) are not used, because the call that opens one has to be answered at once.',
    'Earlier messages can be read, and uncertain answers found again, only with permissions of Microsoft Graph; without them an uncertain answer is reported.',
  ],
  isCalled: () => true,
};
