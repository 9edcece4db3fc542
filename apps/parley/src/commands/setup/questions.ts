import { readFileSync, statSync } from 'node:fs';
import type { CANCEL_SYMBOL } from '@clack/prompts';
import type { SetupModel, SetupSteps } from '@parley/gateway';
import type {
  SetupField,
  SetupPlatform,
  SetupProvider,
  SetupResult,
  SetupState,
} from '@parley/gateway/api';

/** Thrown when the user presses Ctrl-C or Esc at a question. */
export class CancelledError extends Error {
  override readonly name = 'Cancelled';
}

type SaveStep = () => Promise<SetupResult>;
export type SaveSteps = readonly SaveStep[];
export type Questions = Awaited<ReturnType<typeof openQuestions>>;

type PromptLibrary = typeof import('@clack/prompts');

/** The largest key file that is read, in bytes. */
const MAX_KEY_BYTES = 16_384;
/** The number of models shown at once. Longer lists scroll, so that they fit on a small screen. */
const SHOWN_MODELS = 8;

/** Loads the question prompts for `parley setup`. The library for them is loaded lazily. */
export async function openQuestions() {
  const prompts = await import('@clack/prompts');
  const { log } = prompts;
  const show = (answer: SetupResult): void => {
    if (answer.kind === 'problem') log.error(`${answer.reason}\n${answer.fix}`);
    else log.success(answer.text);
  };
  const confirm = (message: string) => answerOrCancel(prompts, prompts.confirm({ message }));
  return {
    intro: prompts.intro,
    outro: prompts.outro,
    cancel: prompts.cancel,
    log,
    show,
    /**
     * Asks for a model and a channel, and tests each of them until it works or the user skips it.
     */
    async ask(installation: SetupSteps): Promise<SaveSteps> {
      const state = await installation.state();
      const model = await repeatUntilDone(() => askModel(prompts, installation, state, show));
      const channel = await repeatUntilDone(() => askChannel(prompts, installation, state, show));
      return [...(model ? [model] : []), ...(channel ? [channel] : [])];
    },
    async confirmed(message: string): Promise<void> {
      if (!(await confirm(message))) throw new CancelledError();
    },
    wantsLink: (isRunning: boolean): Promise<boolean> =>
      confirm(
        isRunning
          ? 'Link your own account now, so that the bot knows you as its owner?'
          : 'Start Parley briefly to link your own account?',
      ),
    wantsStart: (): Promise<boolean> => confirm('Start Parley in this terminal now?'),
    choose: <Value extends string>(message: string, options: readonly QuestionChoice<Value>[]) =>
      askChoice(prompts, message, options),
  };
}

interface QuestionChoice<Value extends string> {
  readonly value: Value;
  readonly label: string;
  readonly hint?: string;
}

async function askChoice<Value extends string>(
  prompts: PromptLibrary,
  message: string,
  options: readonly QuestionChoice<Value>[],
): Promise<Value> {
  return answerOrCancel(prompts, prompts.select<string>({ message, options: [...options] })).then(
    (chosen) => options.find(({ value }) => value === chosen)?.value ?? throwCancelled(),
  );
}

/** Throws `Cancelled` if the user canceled the question. */
async function answerOrCancel<Value>(
  prompts: PromptLibrary,
  asked: Promise<Value | typeof CANCEL_SYMBOL>,
): Promise<Value> {
  const answer = await asked;
  return prompts.isCancel(answer) ? throwCancelled() : answer;
}

function throwCancelled(): never {
  throw new CancelledError();
}

/** `again` means that the value does not work; null means that the user skipped the step. */
type StepAnswer = SaveStep | null | 'again';

async function repeatUntilDone(step: () => Promise<StepAnswer>): Promise<SaveStep | null> {
  for (;;) {
    const asked = await step();
    if (asked !== 'again') return asked;
  }
}

const LATER = { value: 'later', label: 'Keep it as it is' } as const;

async function askModel(
  prompts: PromptLibrary,
  installation: SetupSteps,
  { providers, isOffline, model: used }: SetupState,
  show: (answer: SetupResult) => void,
): Promise<StepAnswer> {
  const options = providers.map(({ name }) => ({ value: name, label: name }));
  const hint = isOffline ? 'no model is connected' : used;
  const name = await askChoice(prompts, 'Which model should the agent use?', [
    ...(isOffline ? options : []),
    { ...LATER, hint },
    ...(isOffline ? [] : options),
  ]);
  const provider = providers.find((one) => one.name === name);
  if (provider === undefined) return null;
  prompts.log.info(provider.needs);
  const server = await askServer(prompts, provider);
  const listed = await installation.tryModel(server);
  if (listed.kind === 'problem') {
    show(listed);
    return 'again';
  }
  const models = listed.kind === 'works' ? listed.models : null;
  const chosen = await askModelName(prompts, models, provider.model);
  const model = { ...server, model: chosen };
  prompts.log.step('Testing it with a short question …');
  const tried = await installation.tryModel(model);
  show(tried);
  return tried.kind === 'problem' ? 'again' : () => installation.saveModel(model);
}

async function askServer(prompts: PromptLibrary, provider: SetupProvider): Promise<SetupModel> {
  const { baseUrl: proposed = '', hasAddress, hasKey } = provider;
  const baseUrl = hasAddress
    ? await answerOrCancel(
        prompts,
        prompts.text({
          message: 'Its address',
          initialValue: proposed,
          validate: findUrlProblem,
        }),
      )
    : proposed;
  const isFree = hasAddress === true;
  const validate = isFree ? () => undefined : (key?: string) => (key ? undefined : 'Paste it.');
  const message = isFree ? 'Its API key, if it needs one' : 'Its API key';
  const apiKey = hasKey
    ? ((await answerOrCancel(prompts, prompts.password({ message, validate }))) ?? '').trim()
    : '';
  return {
    provider: provider.provider,
    ...(baseUrl !== '' && { baseUrl }),
    ...(apiKey !== '' && { apiKey }),
  };
}

function findUrlProblem(typed: string | undefined): string | undefined {
  return /^https?:\/\//.test(typed ?? '') && URL.canParse(typed ?? '')
    ? undefined
    : 'Such as http://127.0.0.1:8080/v1';
}

/** Offers the server's list of models, or asks for a name if the server has no list. */
async function askModelName(
  prompts: PromptLibrary,
  models: readonly string[] | null,
  proposed: string | undefined,
): Promise<string> {
  const message = 'Which of its models?';
  const validate = (typed: string | undefined) => (typed?.trim() ? undefined : 'Its name.');
  if (models === null || models.length === 0)
    return (await answerOrCancel(prompts, prompts.text({ message, validate }))).trim();
  const options = models.map((value) => ({ value, label: value }));
  const maxItems = SHOWN_MODELS;
  const initial = proposed === undefined ? {} : { initialValue: proposed };
  return answerOrCancel(prompts, prompts.autocomplete({ message, options, maxItems, ...initial }));
}

async function askChannel(
  prompts: PromptLibrary,
  installation: SetupSteps,
  { platforms, channels }: SetupState,
  show: (answer: SetupResult) => void,
): Promise<StepAnswer> {
  const names = [...new Set(channels)].join(', ');
  const options = [
    ...platforms.flatMap(({ id, name, isUntested }) =>
      isUntested ? [] : [{ value: id, label: name }],
    ),
    OTHER_PLATFORM,
  ];
  const keep = { ...LATER, hint: names === '' ? 'only the page and the terminal' : names };
  const chosen = await askChoice(prompts, 'Where will people write to the agent?', [
    ...(names === '' ? options : []),
    keep,
    ...(names === '' ? [] : options),
  ]);
  const id = chosen === OTHER_PLATFORM.value ? await askOtherPlatform(prompts, platforms) : chosen;
  const platform = platforms.find((one) => one.id === id);
  if (platform === undefined) return null;
  prompts.log.info(platform.needs);
  switch (platform.asks) {
    case 'token':
      return askToken(prompts, installation, platform, show);
    case 'phone':
      return askPhone(prompts, installation, platform);
    case 'options':
      return askOptions(prompts, installation, platform, show);
  }
}

const OTHER_PLATFORM = {
  value: 'other',
  label: 'Another platform, with a Chat SDK adapter',
} as const;

/** Asks for one of the platforms that Parley's tests do not cover. */
function askOtherPlatform(
  prompts: PromptLibrary,
  platforms: SetupState['platforms'],
): Promise<string> {
  const others = platforms.filter(({ isUntested }) => isUntested);
  const options = others.map(({ id, name }) => ({ value: id, label: name }));
  const message = "Which platform? Parley's tests do not cover these.";
  return askChoice(prompts, message, [...options, LATER]);
}

async function askOptions(
  prompts: PromptLibrary,
  installation: SetupSteps,
  { id: channel, fields = [], notDurable = [], webhook }: SetupPlatform,
  show: (answer: SetupResult) => void,
): Promise<StepAnswer> {
  if (notDurable.length > 0) prompts.log.info(['What is not durable:', ...notDurable].join('\n'));
  if (webhook !== undefined)
    prompts.log.info(`Give this address to the platform if it sends events to Parley: ${webhook}`);
  const options: Record<string, string> = {};
  for (const field of fields) {
    const typed = await askField(prompts, field);
    if (typed !== '') options[field.key] = typed;
  }
  const chosen = { channel, options };
  const tried = await installation.tryChannel(chosen);
  show(tried);
  return tried.kind === 'problem' ? 'again' : () => installation.saveChannel(chosen);
}

/** The value of a field; empty if the user skips the field. */
async function askField(prompts: PromptLibrary, field: SetupField): Promise<string> {
  const { label, help, isSecret, isOptional, isFile = false } = field;
  const what = isFile ? `${label}: the path of the file` : label;
  const message = `${what}${isOptional ? ', or nothing' : ''}\n${help}`;
  const validate = (typed: string | undefined) => {
    const text = typed?.trim() ?? '';
    if (text === '') return isOptional ? undefined : 'It is needed.';
    return isFile && readKeyFile(text) === undefined ? 'There is no such file.' : undefined;
  };
  const ask = isSecret && !isFile ? prompts.password : prompts.text;
  const typed = ((await answerOrCancel(prompts, ask({ message, validate }))) ?? '').trim();
  return isFile ? (readKeyFile(typed) ?? '') : typed;
}

/** The content of a key file; undefined if it cannot be read. */
function readKeyFile(path: string): string | undefined {
  try {
    if (statSync(path).size > MAX_KEY_BYTES) return undefined;
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}

async function askPhone(
  prompts: PromptLibrary,
  installation: SetupSteps,
  { id: channel }: SetupPlatform,
): Promise<StepAnswer> {
  const message =
    "The bot's phone number, such as +49 1512 3456789; leave it empty to scan a QR code";
  const phone = ((await answerOrCancel(prompts, prompts.text({ message }))) ?? '').trim();
  return () => installation.saveChannel({ channel, ...(phone !== '' && { phone }) });
}

async function askToken(
  prompts: PromptLibrary,
  installation: SetupSteps,
  { id: channel }: SetupPlatform,
  show: (answer: SetupResult) => void,
): Promise<StepAnswer> {
  const validate = (typed: string | undefined) => (typed?.trim() ? undefined : 'Paste it.');
  const typed = await answerOrCancel(prompts, prompts.password({ message: 'Its token', validate }));
  const chosen = { channel, token: typed.trim() };
  const tried = await installation.tryChannel(chosen);
  show(tried);
  if (tried.kind === 'problem') return 'again';
  const invitation = tried.kind === 'works' ? tried.bot?.invitation : null;
  if (invitation) prompts.log.info(`Add the bot to your servers:\n${invitation}`);
  return () => installation.saveChannel(chosen);
}
