export * from './cache.ts';
export * from './channel.ts';
export * from './errors.ts';
export * from './inbound-message.ts';
export * from './proactive.ts';
export * from './prompt.ts';
export * from './runtime.ts';
export * from './text.ts';
export type * from './timeline.ts';
