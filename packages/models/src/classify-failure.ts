import type { FailureFacts } from './failure-facts.ts';
import type { ModelFailure } from './model-error.ts';
import { retryAfterMs } from './retry-after.ts';

const UNREACHABLE =
  /^(ECONNREFUSED|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|EADDR|ETIMEDOUT|UND_ERR_CONNECT|CERT_|ERR_TLS|DEPTH_|SELF_|UNABLE_)/;
const SILENT = /^UND_ERR_(HEADERS|BODY)_TIMEOUT/;
const TOO_LONG =
  /context[ _-]?(length|window|size)|(prompt|input|request) is too long|too many (input )?tokens|exceed\w* .{0,40}(context|token)|request_too_large/i;
const NO_CREDIT = /insufficient_quota|credit balance|billing|payment required/i;
const RATE_LIMITED = /rate[ _-]?limit/i;
const FILTERED = /content_?(filter|policy)|safety system/i;
/** Ollama, vLLM, llama.cpp, LM Studio and gateways, in their own words. */
const NO_TOOLS =
  /(does not|doesn't|not) support(ed)? (the use of )?(tool|function)|support tool use|tools? (is|are|use is|calling is) not supported|enable-auto-tool-choice|tools param requires/i;

/**
 * Decides what a failed call means. Status first, then the provider's words (which some send with
 * status 200 inside the stream), then the network. `now` is ms since 1970, for dates in `Retry-After`.
 */
export function classifyFailure(facts: FailureFacts, now: number): ModelFailure {
  const words = `${facts.type ?? ''} ${facts.message}`;
  const failed = facts.status !== null && facts.status >= 400;
  if (failed || facts.networkCode === null) {
    const byWords = classifyWords(words, facts, now);
    if (byWords !== null) return byWords;
  }
  if (facts.status !== null && failed) return classifyStatus(facts.status, facts, now);
  if (facts.networkCode !== null) return classifyNetwork(facts.networkCode);
  if (/JSONParse|TypeValidation|InvalidResponse/.test(facts.name)) return { kind: 'rubbish' };
  if (/EmptyResponseBody/.test(facts.name)) return { kind: 'empty' };
  return { kind: 'refused' };
}

function classifyWords(words: string, facts: FailureFacts, now: number): ModelFailure | null {
  const { status } = facts;
  const type = facts.type ?? '';
  const rest = retryAfterMs(facts.headers, now);
  const serverFailed = status !== null && status >= 500;
  if (status !== null && status >= 400 && NO_TOOLS.test(words)) return { kind: 'no-tools' };
  // "Quota" may also mean this minute's; a server that says when to come back means that.
  if (NO_CREDIT.test(words) && !serverFailed && rest === null) return { kind: 'no-credit' };
  if (RATE_LIMITED.test(words) && !serverFailed)
    return { kind: 'rate-limited', retryAfterMs: rest };
  // A limit of tokens per minute (429) reads almost like a limit of tokens per request.
  if (TOO_LONG.test(words) && status !== 429) return { kind: 'too-long' };
  if (/overloaded|server_error|api_error/i.test(type)) return { kind: 'overloaded' };
  if (/authentication_error|permission_error|invalid_api_key/i.test(type)) {
    return { kind: 'unauthorised' };
  }
  return FILTERED.test(words) ? { kind: 'filtered' } : null;
}

function classifyStatus(status: number, facts: FailureFacts, now: number): ModelFailure {
  if (status === 401 || status === 403) return { kind: 'unauthorised' };
  if (status === 402) return { kind: 'no-credit' };
  if (status === 404) return { kind: 'not-found' };
  if (status === 408) return { kind: 'overloaded' };
  if (status === 413) return { kind: 'too-long' };
  if (status === 429) {
    return { kind: 'rate-limited', retryAfterMs: retryAfterMs(facts.headers, now) };
  }
  return status >= 500 ? { kind: 'overloaded' } : { kind: 'refused' };
}

function classifyNetwork(code: string): ModelFailure {
  if (SILENT.test(code)) return { kind: 'timeout', phase: 'stalled' };
  return UNREACHABLE.test(code) ? { kind: 'unreachable' } : { kind: 'broken-off' };
}
