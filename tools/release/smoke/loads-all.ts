import '@payment-service/core/internal';
