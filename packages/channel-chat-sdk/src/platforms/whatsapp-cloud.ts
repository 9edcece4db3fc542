import { explainPhoneNumber, findPhoneNumber, type IdForm, trimCopiedId } from '@parley/core';
import {
  apiUrlSchema,
  createIdForm,
  createUserNameOption,
  digitsSchema,
  type Platform,
  patternSchema,
  textSchema,
} from './platform.ts';

/**
 * The id that Meta assigns to a person for one business. It consists of the country code, a period,
 * and letters and digits.
 */
const BUSINESS_SCOPED = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/;

const person: IdForm = {
  expected: 'a phone number with its country code, or a WhatsApp id such as DE.1234567890123456',
  howToFind:
    'The notice about a stranger and "parley channels" show the id; people without a visible number have only an id such as DE.1234567890123456',
  explain: explainPhoneNumber,
  normalize(written) {
    const scoped = BUSINESS_SCOPED.exec(trimCopiedId(written))?.[0];
    return scoped ?? findPhoneNumber(written) ?? null;
  },
};

const direct = createIdForm(
  {
    expected: "your number's id and a person's id, such as 123456789012345:4915112345678",
    howToFind: '"parley conversations" shows the id',
  },
  [/^(\d{5,}:\S+)$/],
);

/** Meta's WhatsApp Business Platform (Cloud API), for a business phone number. */
export const whatsappCloud: Platform = {
  use: '@chat-adapter/whatsapp',
  version: '4.41.1',
  name: 'WhatsApp Business Cloud',
  channel: 'whatsapp-cloud',
  page: 'channel-whatsapp-cloud.md',
  ids: { person, group: null, direct, role: null, thread: null },
  answersStrangers: false,
  options: {
    accessToken: {
      variable: 'WHATSAPP_ACCESS_TOKEN',
      schema: textSchema(
        'Access token',
        'A permanent token for a system user with the permission whatsapp_business_messaging.',
      ),
    },
    appSecret: {
      variable: 'WHATSAPP_APP_SECRET',
      schema: textSchema('App secret', 'From the page App settings, Basic, of your Meta app.'),
    },
    phoneNumberId: {
      variable: 'WHATSAPP_PHONE_NUMBER_ID',
      schema: digitsSchema(
        'Phone number id',
        'The id that Meta assigned to your phone number, from the page API Setup. It is not the phone number itself.',
        'the id of a phone number, which consists only of digits',
      ),
    },
    verifyToken: {
      variable: 'WHATSAPP_VERIFY_TOKEN',
      schema: textSchema(
        'Verify token',
        "Text of your choice, which you also enter next to the webhook's URL.",
      ),
    },
    userName: createUserNameOption('Shown in logs.', 'WHATSAPP_BOT_USERNAME'),
    apiVersion: {
      schema: patternSchema(
        'API version',
        'Version of the Graph API.',
        /^v\d+\.\d+$/,
        'such as v25.0',
      ),
    },
    apiUrl: { variable: 'WHATSAPP_API_URL', schema: apiUrlSchema('URL of the Graph API.') },
  },
  needs: [[['accessToken']], [['appSecret']], [['phoneNumberId']], [['verifyToken']]],
  left: {},
  asks: ['accessToken', 'appSecret', 'phoneNumberId', 'verifyToken'],
  setUp:
    "Create an app of the type Business at developers.facebook.com, add WhatsApp, and register a number that is not used with WhatsApp. Meta's terms do not allow general-purpose assistants on this platform; an assistant for a business's customers is allowed.",
  notDurable: [
    'If more than 24 hours have passed since a person\'s last message, WhatsApp accepts only templates that Meta has approved. A later answer is not sent, and "parley dead" lists it.',
    "Apps cannot read WhatsApp's message history, so only delivery reports show whether an answer arrived.",
    'The typing indicator ends after 25 seconds or with the answer.',
    'Sent messages cannot be edited or deleted.',
  ],
  isCalled: () => true,
};
