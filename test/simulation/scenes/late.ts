import { decidedBySender } from '../invariants/senders.ts';
import type { SimulationScene } from '../scene.ts';
import { gateways } from './gateways.ts';
import { shared } from './talk.ts';

/** Gateways that are paused between two of their steps until others have their accounts. */
export const lateGateways: SimulationScene = {
  ...gateways,
  name: 'late-gateways',
  faults: ['overtaken', 'overtaken', 'kill', 'sends'],
  invariants: [decidedBySender],
};

/** Workers that are paused between two of their steps until others have their lanes. */
export const lateWorkers: SimulationScene = {
  ...shared,
  name: 'late-workers',
  faults: ['overtaken', 'overtaken', 'kill', 'wake-ups'],
  invariants: [],
};
