import { type Context, isSpanContextValid, trace } from '@opentelemetry/api';
import {
  AlwaysOnSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';

/**
 * Traces a share of the messages, each wholly or not at all. What belongs to no message is left out:
 * queues look for work all the time.
 */
export function messageSampler(share: number): Sampler {
  const first = share === 1 ? new AlwaysOnSampler() : new TraceIdRatioBasedSampler(share);
  const no = { decision: SamplingDecision.NOT_RECORD };
  return {
    shouldSample(around: Context, traceId, name) {
      const parent = trace.getSpanContext(around);
      if (parent !== undefined && isSpanContextValid(parent)) {
        const isTraced = (parent.traceFlags & 1) === 1;
        return isTraced ? { decision: SamplingDecision.RECORD_AND_SAMPLED } : no;
      }
      return name.startsWith('parley.') ? first.shouldSample(around, traceId) : no;
    },
    toString: () => `a share of ${share} of the messages`,
  };
}
