// Marked, here and elsewhere: what runs when a file is loaded stays in every bundle that uses something of that file.
export const encoder: InstanceType<typeof TextEncoder> = /* @__PURE__ */ new TextEncoder();
