export { createPlayClock, type PlayClock } from './play-clock.ts';
export {
  CODES,
  describeSceneDifference,
  type PlayOptions,
  playScene,
  type RecordedMessage,
  type Recording,
  readScene,
  recordScene,
  type Scene,
  type SceneDifference,
  type SceneLine,
  writeScene,
} from './scene.ts';
export type { Simulator } from './simulator.ts';
export { type SimulatorOptions, type StartedSimulator, startSimulator } from './start.ts';
export * from './world.ts';
