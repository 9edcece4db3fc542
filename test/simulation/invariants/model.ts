import { createTraceChecker } from '../model/allowed-steps.ts';
import type { MakeInvariant } from './invariant.ts';

/** Each step is one that the model of the lane and the outbox allows (D17). */
export const allowedSteps: MakeInvariant = () => ({ id: 'D17', afterStep: createTraceChecker() });
