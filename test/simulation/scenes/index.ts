import type { Scene } from '../scene.ts';
import { approvalsEmbedded, approvalsShared } from './approvals.ts';
import { proactiveEmbedded, proactiveShared } from './proactive.ts';
import { strangersEmbedded, strangersShared } from './strangers.ts';
import { embedded, shared } from './talk.ts';
import { toolsEmbedded, toolsShared } from './tools.ts';
import { upkeepEmbedded, upkeepShared } from './upkeep.ts';

/** All scenes, in the order in which a run takes them in turns. */
export const SCENES: readonly Scene[] = [
  embedded,
  shared,
  toolsEmbedded,
  toolsShared,
  approvalsEmbedded,
  approvalsShared,
  strangersEmbedded,
  strangersShared,
  proactiveEmbedded,
  proactiveShared,
  upkeepEmbedded,
  upkeepShared,
];
