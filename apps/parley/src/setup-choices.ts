import type { SetupPlatform, SetupProvider } from '@parley/gateway/api';
import { detectLocalServers, findUsualServer } from '@parley/models/probe';

/**
 * Labels for settings in the setup forms on the page and in the terminal, used to describe
 * problems.
 */
export const SETUP_FIELDS: ReadonlyMap<string, string> = new Map([
  ['baseUrl', 'Address'],
  ['apiKey', 'Key'],
  ['model', 'Model'],
  ['token', 'Token'],
  ['phone', 'Phone number'],
]);

const SERVICES: readonly SetupProvider[] = [
  {
    name: 'OpenAI',
    provider: 'openai',
    hasKey: true,
    needs: 'Create a key at platform.openai.com, under API keys.',
  },
  {
    name: 'Anthropic',
    provider: 'anthropic',
    hasKey: true,
    needs: 'Create a key at console.anthropic.com, under API keys.',
  },
  {
    name: 'Gemini',
    provider: 'openai-compatible',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    hasKey: true,
    needs: 'Create a key at aistudio.google.com, under Get API key.',
  },
  {
    name: 'OpenRouter',
    provider: 'openai-compatible',
    baseUrl: 'https://openrouter.ai/api/v1',
    hasKey: true,
    needs: 'Create a key at openrouter.ai, under Keys.',
  },
  {
    name: 'DeepSeek',
    provider: 'openai-compatible',
    baseUrl: 'https://api.deepseek.com/v1',
    hasKey: true,
    needs: 'Create a key at platform.deepseek.com, under API keys.',
  },
  {
    name: 'Mistral',
    provider: 'openai-compatible',
    baseUrl: 'https://api.mistral.ai/v1',
    hasKey: true,
    needs: 'Create a key at console.mistral.ai, under API keys.',
  },
  {
    name: 'Ollama',
    provider: 'openai-compatible',
    baseUrl: 'http://127.0.0.1:11434/v1',
    hasAddress: true,
    needs: 'Install it from ollama.com, then "ollama pull" a model. No key is needed.',
  },
  {
    name: 'LM Studio',
    provider: 'openai-compatible',
    baseUrl: 'http://127.0.0.1:1234/v1',
    hasAddress: true,
    needs: 'Load a model and start its server (Developer, Start Server). No key is needed.',
  },
  {
    name: 'Another one',
    provider: 'openai-compatible',
    hasAddress: true,
    hasKey: true,
    needs: 'The base URL of any OpenAI-compatible server, and an API key if it needs one.',
  },
];

/**
 * Lists all available model servers, starting with those found on this machine, which have a
 * `model`.
 */
export async function listSetupProviders(
  where: Parameters<typeof detectLocalServers>[0],
): Promise<readonly SetupProvider[]> {
  const found = await detectLocalServers(where);
  const here = found.map(({ baseUrl, model }): SetupProvider => {
    const { host } = new URL(baseUrl);
    const name = `${findUsualServer(baseUrl) ?? 'A server'}, found at ${host}`;
    return {
      name,
      provider: 'openai-compatible',
      baseUrl,
      needs: 'It is running and does not need a key.',
      model,
    };
  });
  const isHere = ({ baseUrl }: SetupProvider) => found.some((one) => one.baseUrl === baseUrl);
  return [...here, ...SERVICES.filter((service) => !isHere(service))];
}

/** The platforms on which accounts can be set up without editing the settings file. */
export const SETUP_PLATFORMS: readonly SetupPlatform[] = [
  {
    id: 'telegram',
    name: 'Telegram',
    asks: 'token',
    needs: 'Message @BotFather in Telegram, send /newbot, and copy the token from its reply.',
  },
  {
    id: 'discord',
    name: 'Discord',
    asks: 'token',
    needs:
      'Open discord.com/developers/applications and create an application. Under Bot, press Reset Token and turn on the Message Content Intent. Once you enter the token, you get a link that invites the bot.',
  },
  {
    id: 'whatsapp',
    name: 'WhatsApp',
    asks: 'phone',
    needs:
      "You need the phone of the bot's WhatsApp account. Scan a code shown here with it, or enter its phone number here and type the code on the phone.",
  },
];
