export * from './example-turn.ts';
export * from './movable-time.ts';
export * from './silent-runtime.ts';
export * from './test-length.ts';
