// Skills are measured on the floor below; there is one estimate for all.
export { estimateTokens } from '@parley/workspace';
