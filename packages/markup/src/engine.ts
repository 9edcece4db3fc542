export { createPrefixRenderer } from './prefix-renderer.ts';
export { render, renderInSteps } from './render.ts';
