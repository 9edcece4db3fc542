import type { ModelFailure, RequestTooLong } from './chat-model.ts';

/** The maximum length of a quoted provider message, in characters. */
const MAX_QUOTE = 200;

/** The failed model, for people. */
export interface FailedModel {
  /** `provider/model`. */
  readonly id: string;
  /** Host and port of the server. */
  readonly server: string;
}

/**
 * Explains in plain language what happened, which model was affected, and what to do. `said` is the
 * provider's message; it is quoted only if it helps, and never for a refused key, because some
 * providers echo the key.
 */
export function explainFailure(failure: ModelFailure, model: FailedModel, said: string): string {
  return `${describeFailureCause(failure, model, said)} ${describeRemedy(failure)}`.trim();
}

/** The first sentence of `explainFailure`. */
export function describeFailureCause(
  failure: ModelFailure,
  model: FailedModel,
  said: string,
): string {
  const { id, server } = model;
  switch (failure.kind) {
    case 'unreachable':
      return failure.because === 'certificate'
        ? `The certificate of ${server}, the server of ${id}, is not trusted.`
        : `${id} cannot be reached at ${server}.`;
    case 'broken-off':
      return `The connection to ${id} at ${server} broke off before the answer was complete.`;
    case 'unauthorised':
      return `${server} refused the key for ${id}.`;
    case 'blocked':
      return `Something between here and ${server} blocked the request to ${id}${quoteServerText(said)}.`;
    case 'no-credit':
      return `The account for ${id} at ${server} has no credit left.`;
    case 'not-found':
      return `${server} does not have the model or the address of ${id}.`;
    case 'rate-limited':
      return `${id} is receiving too many requests${describeRetryWait(failure.retryAfterMs)}.`;
    case 'overloaded':
      return `${id} at ${server} is overloaded or has an internal error${quoteServerText(said)}.`;
    case 'too-long':
      return failure.isBytes === true
        ? `${server} does not accept a request of this size for ${id}.`
        : `The conversation is too long for ${id}${describeWindow(failure)}.`;
    case 'output-limit':
      return `${id} at ${server} does not allow an answer of the requested length${quoteServerText(said)}.`;
    case 'refused':
      return `${id} at ${server} did not accept the request${quoteServerText(said)}.`;
    case 'no-tools':
      return `${id} at ${server} cannot use tools${quoteServerText(said)}.`;
    case 'message-order':
      return `${id} at ${server} did not accept the order of the messages${quoteServerText(said)}.`;
    case 'filtered':
      return `${id} declined to answer because of its content filter.`;
    case 'rubbish':
      return `${server} answered for ${id} with something that is not a model's answer${quoteServerText(said)}.`;
    case 'empty':
      return `${id} sent an empty answer.`;
    case 'endless':
      return `${id} used up its output limit with reasoning and gave no answer.`;
    case 'timeout':
      return `${id} at ${server} ${TIMEOUT_TEXTS[failure.phase].what}.`;
    case 'aborted':
      return `The call to ${id} was stopped on request.`;
  }
}

const TIMEOUT_TEXTS = {
  'first-token': {
    what: 'took too long to begin its answer',
    fix: 'Try again, or raise timeouts.firstTokenMs for a slow model.',
  },
  stalled: { what: 'stopped in the middle of its answer', fix: 'Try again.' },
  total: { what: 'took longer for its answer than timeouts.totalMs allows', fix: '' },
} as const;

const FIXES: Readonly<Record<Exclude<ModelFailure['kind'], 'timeout'>, string>> = {
  unreachable: 'Check that the server runs and that baseUrl in the settings is right.',
  'broken-off':
    'Try again; if it breaks off each time, check the address in baseUrl (http or https) and any proxy in between.',
  unauthorised: 'Check apiKey in the settings.',
  blocked:
    'Check the firewall, proxy, VPN or sign-in page of this network, and whether the provider blocks this address; the key is not the reason.',
  'no-credit': 'Add credit or set another model.',
  'not-found': 'Check model and baseUrl in the settings; baseUrl usually ends in /v1.',
  'rate-limited': 'Try again later or set a fallback model.',
  overloaded: 'Try again later or set a fallback model.',
  'too-long': 'Ask with less text, or use a model with a larger context.',
  'output-limit': 'Use another model.',
  refused: 'Check the model settings.',
  'no-tools': 'Use a model that can use tools.',
  'message-order': 'Start a new session or use another model.',
  filtered: 'Rephrase the request.',
  rubbish:
    'Check baseUrl in the settings; it usually ends in /v1. This network may also require a sign-in first.',
  empty: 'Try again, or use another model if it happens often.',
  endless: 'Ask for a smaller part, raise limits.answer.reasoningCharacters, or use another model.',
  aborted: '',
};

/** The second half of `explainFailure`; empty if there is no advice to give. */
export function describeRemedy(failure: ModelFailure): string {
  if (failure.kind === 'timeout') return TIMEOUT_TEXTS[failure.phase].fix;
  if (failure.kind === 'unreachable' && failure.because === 'certificate') return CERTIFICATE_FIX;
  return failure.kind === 'too-long' && failure.isBytes === true ? BYTES_FIX : FIXES[failure.kind];
}

const CERTIFICATE_FIX =
  'Renew the certificate of that server, or name its authority in the variable NODE_EXTRA_CA_CERTS.';
const BYTES_FIX =
  'Send fewer or smaller pictures and files, or raise the limit of the proxy in front of that server.';

function describeWindow({ windowTokens }: RequestTooLong): string {
  return windowTokens === undefined
    ? ''
    : `, which accepts ${windowTokens.toLocaleString('en-US')} tokens`;
}

function describeRetryWait(retryAfterMs: number | null): string {
  return retryAfterMs === null ? '' : ` and asks to wait ${Math.ceil(retryAfterMs / 1000)} s`;
}

function quoteServerText(said: string): string {
  const line = said.replace(/\s+/g, ' ').trim();
  if (line === '') return '';
  return ` (“${line.length > MAX_QUOTE ? `${line.slice(0, MAX_QUOTE)}…` : line}”)`;
}
